"""What a RedisGate knows of its permits: leases, lost messages, and requests whose responses take long."""

import asyncio

import pytest
from itwin_platform import RateLimit
from itwin_platform._gates import intervals, redis as redis_module, shared as shared_module
from itwin_platform._gates.engine import Reply, Report, Request
from itwin_platform._gates.redis import _RedisEngine

from tests.support.redis_gates import enter, gates, needs_redis, run, until
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


def test_a_waiting_process_needs_no_lease(empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that waits for longer than a lease, and is silent meanwhile, still gets the next permit."""
    for module in (redis_module, shared_module):
        monkeypatch.setattr(module, "LEASE", 0.2)
    for name in ("POLL_INTERVAL", "LONGEST_POLL"):
        monkeypatch.setattr(intervals, name, 1000.0)
    monkeypatch.setattr(shared_module, "LONGEST_POLL", 1000.0)

    async def work() -> None:
        loop = asyncio.get_running_loop()
        async with gates(empty_server.url, max_in_flight=1) as (one, two):
            permit = await enter(one)
            waiting = asyncio.create_task(enter(two))
            await until(lambda: two._listens and two._asked == 1)
            silent_since = loop.time()
            await until(lambda: loop.time() > silent_since + 0.6)
            assert two._due > silent_since + 900.0
            one.abandoned(permit)
            two.abandoned(await waiting)

    run(work)


def test_a_permit_whose_message_was_lost_returns(empty_server: RedisServer) -> None:
    """A process that ends its subscription while a permit is on its way returns it with its next exchange."""

    async def work() -> None:
        engine = _RedisEngine(empty_server.url, name="test", max_in_flight=1, rates=())

        async def exchange(process: str, *reports: Report, wants: int = 0, listens: bool = False) -> Reply:
            request = Request(process=process, wants=wants, listens=listens, holds=False, spent=0, reports=reports)
            return await engine.exchange(request)

        received = asyncio.Event()
        listening = asyncio.Event()
        listener = asyncio.create_task(
            engine.listen("two", ready=listening.set, permit=lambda _period, _number: received.set())
        )
        await listening.wait()
        (permit,) = (await exchange("one", wants=1)).permits
        assert (await exchange("two", wants=1, listens=True)).permits == []
        await exchange("one", Report(kind="abandoned", period=permit[0], number=permit[1]))
        await received.wait()  # and nobody notes it
        assert (await exchange("three", wants=1)).permits == []
        listener.cancel()
        await exchange("two")
        assert len((await exchange("three", wants=1)).permits) == 1
        await asyncio.wait([listener])
        await engine.aclose()

    run(work)


def test_a_slow_response_occupies_its_rate_only_once(
    empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others learn when a request was sent, although its response does not come."""
    monkeypatch.setattr(shared_module, "LEASE", 1000.0)

    async def work() -> None:
        async with gates(empty_server.url, rate=RateLimit(1, 0.2)) as (one, two):
            first = await enter(one)
            one.sending(first)
            two.abandoned(await enter(two))
            one.answered(first)

    run(work)
