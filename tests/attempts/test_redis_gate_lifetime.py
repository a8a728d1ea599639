"""Constructing, using and closing one RedisGate."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

import pytest
import redis.asyncio
from itwin_platform import GateChanged, RedisGate, UsageError

from tests.support.real_time import until
from tests.support.redis_gates import enter, gates, needs_redis
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


async def test_a_wrong_password_is_a_usage_error(caplog: pytest.LogCaptureFixture) -> None:
    """With a wrong password, a call raises UsageError, and neither the error nor the log contains the password."""
    with RedisServer(password="right-secret") as server:
        async with gates(server.url.replace("unix://", "unix://:wrong-secret@"), 1) as (gate,):
            with pytest.raises(UsageError, match="rejects the user name or the password in redis") as raised:
                await enter(gate)
    assert "wrong-secret" not in str(raised.value) + caplog.text + repr(gate)


async def test_a_wrong_database_is_a_usage_error(empty_server: RedisServer) -> None:
    """With a database that the server does not have, a call raises UsageError, which names it."""
    async with gates(f"{empty_server.url}?db=99", 1) as (gate,):
        for _ in range(3):
            with pytest.raises(UsageError, match="has no such database"):
                await enter(gate)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *(
            ({"redis": url}, "redis must be a URL such as")
            for url in ("http://localhost", "localhost:6379", "redis://a:b")
        ),
        ({"name": " "}, "name must say"),
        ({"workers": 0}, "workers must be"),
        ({"max_in_flight": 0}, "max_in_flight must be"),
        ({"max_in_flight": 2.5}, "max_in_flight must be"),
        ({"redis": redis.Redis()}, r"a client of redis\.asyncio, not a synchronous one"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_wrong_argument_is_a_usage_error(arguments: dict[str, Any], said: str) -> None:
    """A URL that redis does not understand, a value out of range, and a client that cannot be awaited are rejected."""
    with pytest.raises(UsageError, match=said) as caught:
        RedisGate(**{"redis": "redis://localhost", "name": "test", **arguments})
    assert [caught.value.argument] == list(arguments)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the redis package, the constructor raises ImportError with the command that installs it."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match="pip install redis"):
        RedisGate("redis://localhost", name="test")


async def test_a_client_of_the_caller_may_decode_responses(empty_server: RedisServer) -> None:
    """The gate understands strings as well as bytes, in replies and in messages."""
    client = redis.asyncio.Redis.from_url(empty_server.url, decode_responses=True)
    async with RedisGate(client, name="test") as gate:
        permits = [await enter(gate) for _ in range(20)]
        waiting = asyncio.create_task(enter(gate))
        await until(lambda: gate._listens)
        gate.abandoned(permits[0])
        await waiting
    await client.aclose()


def test_a_client_of_the_caller_serves_one_event_loop_after_the_other(empty_server: RedisServer) -> None:
    """The gate stays shared: it keeps the client, whose connections the caller closes at the end of each loop."""
    events: list[GateChanged] = []
    client = redis.asyncio.Redis.from_url(empty_server.url)
    gate = RedisGate(client, name="test", on_event=events.append)

    async def work() -> None:
        gate.responded(await enter(gate))
        await until(lambda: gate._pump is not None and gate._pump.done())
        await client.aclose()

    asyncio.run(work())
    asyncio.run(work())
    assert events == []


def test_a_gate_with_a_url_leaves_no_socket_in_a_loop_that_ended(empty_server: RedisServer) -> None:
    """Used in one loop after the other and never closed, it has a connection in the present loop at most."""
    gate = RedisGate(empty_server.url, name="test")

    async def work() -> None:
        gate.responded(await enter(gate))
        await until(lambda: gate._pump is not None and gate._pump.done())
        with empty_server.client as client:
            assert len(client.client_list()) == 2

    for _ in range(3):
        asyncio.run(work())


async def test_closing_ends_waiting_calls(empty_server: RedisServer) -> None:
    """Closing fails waiting calls with UsageError and reports ended attempts, so that others get their permits."""
    async with gates(empty_server.url, 2, max_in_flight=1) as (one, two):
        permit = await enter(one)
        waiting = asyncio.create_task(enter(one))
        await until(lambda: one._listens)
        one.abandoned(permit)
        with suppress(UsageError):
            await asyncio.gather(one.aclose(), waiting)
        with pytest.raises(UsageError, match="the gate is closed"):
            await enter(one)
        two.abandoned(await enter(two))


async def test_closing_an_unused_gate_needs_no_server(own_server: RedisServer) -> None:
    """An unused gate closes without a server, raises no event, and then rejects calls."""
    own_server.kill()
    events: list[GateChanged] = []
    async with gates(own_server.url, 1, on_event=events.append) as (gate,):
        await gate.aclose()
        with pytest.raises(UsageError, match="the gate is closed"):
            await enter(gate)
    assert events == []


async def test_an_idle_gate_has_no_task(empty_server: RedisServer) -> None:
    """A gate with nothing in flight runs no task, so a program may end without closing it."""
    async with gates(empty_server.url, 1) as (gate,):
        gate.abandoned(await enter(gate))
        await until(lambda: gate._pump is not None and gate._pump.done())
