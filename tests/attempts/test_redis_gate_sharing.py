"""Several gates of one name share one limit, as several processes do."""

import asyncio

import pytest
from itwin_platform import RateLimit, RedisGate

from tests.support.faces import WaitTooLongError, module_of
from tests.support.real_time import until
from tests.support.redis_gates import clocked_gate, enter, gates, needs_redis, set_clock, until_queued
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


async def test_processes_share_what_is_in_flight(empty_server: RedisServer) -> None:
    """Three gates never have more attempts in flight together than allowed, and every call gets its permit."""
    now = most = served = 0

    async def call(gate: RedisGate) -> None:
        nonlocal now, most, served
        permit = await enter(gate)
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.002)
        now -= 1
        served += 1
        gate.responded(permit)

    async with gates(empty_server.url, 3, max_in_flight=4) as opened:
        await asyncio.gather(*(call(gate) for gate in opened for _ in range(40)))
    assert (most, served) == (4, 120)


@pytest.mark.usefixtures("no_polls")
async def test_a_free_permit_reaches_a_waiting_call_without_polling(empty_server: RedisServer) -> None:
    """The server pushes a free permit to the first waiting gate, which need not ask again."""
    async with gates(empty_server.url, 3, max_in_flight=1) as (one, two, three):
        permit = await enter(one)
        second = asyncio.create_task(enter(two))
        await until_queued(empty_server, 1)
        third = asyncio.create_task(enter(three))
        await until_queued(empty_server, 2)
        for gate, waiting in ((one, second), (two, third)):
            gate.responded(permit)
            permit = await waiting
        three.abandoned(permit)


async def test_a_429_of_one_process_starts_a_cooldown_in_all(empty_server: RedisServer) -> None:
    """A 429 starts a cooldown in every process, and the slow start after it counts all of them together."""
    set_clock(empty_server, 0)
    async with (
        clocked_gate(empty_server, max_in_flight=20) as one,
        clocked_gate(empty_server, max_in_flight=20) as two,
    ):
        permit = await enter(one)
        one.rate_limited(permit, wait=300.0)
        assert one.cooldown_left() > 200.0
        await until(lambda: not one._is_cooldown_unreported)
        with pytest.raises(WaitTooLongError):
            await enter(two, max_wait=200.0)
        set_clock(empty_server, 301)
        tasks = [asyncio.create_task(enter(gate, max_wait=400.0)) for gate in (one, two) for _ in range(3)]
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert len(done) == 1
        await asyncio.sleep(0.05)
        assert sum(task.done() for task in tasks) == 1
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_what_was_granted_is_not_waited_for(empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that comes after others were admitted asks at once, not when their leases are kept."""
    monkeypatch.setattr(module_of("LEASE"), "LEASE", 1000.0)
    async with gates(empty_server.url, 1) as (gate,), asyncio.timeout(10):
        permits = await asyncio.gather(*(enter(gate) for _ in range(10)))
        for permit in (*permits, await enter(gate)):
            gate.abandoned(permit)


async def test_a_call_costs_one_command(empty_server: RedisServer) -> None:
    """The report of an attempt travels with the next request for a permit, so a call costs one Redis command."""

    with empty_server.client as client:
        client.config_resetstat()
    async with gates(empty_server.url, 1) as (gate,):
        for _ in range(50):
            permit = await enter(gate)
            gate.responded(permit)
    with empty_server.client as client:
        calls = client.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert calls <= 55


async def test_a_call_after_a_pause_waits_for_one_command(empty_server: RedisServer) -> None:
    """A gate that was idle reports nothing and subscribes to nothing before it asks: the first command grants."""
    async with gates(empty_server.url, 1) as (gate,):
        gate.responded(await enter(gate))
        await until(lambda: gate._pump is not None and gate._pump.done())
        with empty_server.client as client:
            client.config_resetstat()
            permit = await enter(gate)
            statistics = client.info("commandstats")
        assert statistics["cmdstat_evalsha"]["calls"] == 1
        assert "cmdstat_subscribe" not in statistics
        gate.responded(permit)


async def test_keys_expire_and_name_only_the_gate(empty_server: RedisServer) -> None:
    """Every key has the hash tag of the gate's name and expires when nobody uses the gate."""
    async with gates(empty_server.url, 2, max_in_flight=1, rate=RateLimit(5, 60.0)) as (one, two):
        permit = await enter(one)
        waiting = asyncio.create_task(enter(two))
        await until_queued(empty_server)
        with empty_server.client as client:
            keys = sorted(client.keys("*"))
            assert keys == sorted(f"itwin-gate:{{test, app 7}}:{part}" for part in ("flight", "log", "queue", "state"))
            assert all(0 < client.ttl(key) <= 3600 for key in keys)
        one.abandoned(permit)
        two.abandoned(await waiting)
