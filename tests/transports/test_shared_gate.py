"""Clients that share one RedisGate limit: a real Redis server, and the sandbox on loopback."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import redis.asyncio
from itwin_platform import BackoffPolicy, GateChanged, PlatformClient, RedisGate, UsageError
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import until
from tests.support.redis_gates import needs_redis
from tests.support.redis_server import RedisServer

pytestmark = needs_redis

NAME = "test, app 7"
TOKEN = "planted-token"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A server that the test may kill."""
    with RedisServer() as server:
        yield server


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A service that accepts any token."""
    async with Sandbox(itwins=5) as sandbox:
        yield sandbox


def client_of(sandbox: Sandbox, gate: RedisGate) -> PlatformClient:
    """Make a client as each process has one."""
    return PlatformClient(
        sandbox.base_url,
        vendor="v",
        token=TOKEN,
        gate=gate,
        backoff=BackoffPolicy(deadline=None),
    )


@pytest.mark.usefixtures("quick_reconnect")
async def test_calls_survive_the_end_of_redis(sandbox: Sandbox, server: RedisServer) -> None:
    """All calls succeed when Redis is killed while they run, and later ones share the limit again."""
    events: list[GateChanged] = []
    sandbox.set_latency(0.005)
    async with (
        RedisGate(server.url, name=NAME, max_in_flight=4, workers=2, on_event=events.append) as first_gate,
        RedisGate(server.url, name=NAME, max_in_flight=4, workers=2, on_event=events.append) as second_gate,
        client_of(sandbox, first_gate) as first,
        client_of(sandbox, second_gate) as second,
    ):
        calls = [each.itwins.get_primary_account() for _ in range(30) for each in (first, second)]
        running = asyncio.gather(*calls)
        await until(lambda: len(sandbox.requests) >= 20)
        server.kill()
        assert {found.id for found in await running} == {sandbox.account_id}
        assert [event.is_shared for event in events] == [False, False]
        server.start()
        for client in (first, second):
            await client.itwins.get_primary_account()
        await until(lambda: len(events) == 4)
    assert [event.is_shared for event in events[2:]] == [True, True]
    assert len(sandbox.requests) == 62


async def test_redis_holds_no_token_and_no_query(server: RedisServer) -> None:
    """No key and no value contains the token or what is searched for, while a call waits and afterwards."""
    goes_on = asyncio.Event()

    async def sleep(_: float) -> None:
        await goes_on.wait()

    async with (
        Sandbox(itwins=5, latency=1.0, sleep=sleep) as sandbox,
        RedisGate(server.url, name=NAME, max_in_flight=1) as gate,
        client_of(sandbox, gate) as platform,
    ):
        found = [asyncio.create_task(platform.itwins.list(search="planted-search").collect()) for _ in range(2)]
        await until(lambda: gate._listens)
        during = stored(server)
        goes_on.set()
        await asyncio.gather(*found)
        assert "planted-search" in sandbox.requests[0].query.values()
        kept = during + stored(server)
    assert during.startswith(b"itwin-gate:{test, app 7}:")
    assert b"planted" not in kept


def stored(server: RedisServer) -> bytes:
    """Return all keys with their values."""
    with redis.Redis.from_url(server.url) as client:
        return b"\n".join(key + b" " + (client.dump(key) or b"") for key in client.scan_iter())


async def test_closing_leaves_what_was_given_open(sandbox: Sandbox, server: RedisServer) -> None:
    """A closed client leaves its gate open, and a closed gate leaves the redis client that it was given open."""
    connection = redis.asyncio.Redis.from_url(server.url)
    gate = RedisGate(connection, name=NAME)
    async with client_of(sandbox, gate) as platform:
        await platform.itwins.get_primary_account()
    async with client_of(sandbox, gate) as platform:
        await platform.itwins.get_primary_account()
        opened = connections(server)
        await gate.aclose()
        with pytest.raises(UsageError, match="the gate is closed"):
            await platform.itwins.get_primary_account()
    assert opened
    assert opened <= connections(server)
    await connection.aclose()


def connections(server: RedisServer) -> set[str]:
    """Return the numbers of all connections but the one that asks."""
    with server.client as client:
        number = str(client.client_id())
        return {each["id"] for each in client.client_list()} - {number}
