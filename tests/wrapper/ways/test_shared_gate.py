"""What a client with a RedisGate leaves in Redis, and what closing the gate leaves open: a real Redis server."""

import asyncio

import pytest
import redis.asyncio
from itwin_platform import PlatformClient, RedisGate, UsageError
from itwin_platform_sandbox import Sandbox

from tests.support.gates import enter, needs_redis, until_subscribed
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


async def test_redis_holds_no_token_and_no_query() -> None:
    """No key and no value contains the token or what is searched for, while a call waits and afterwards."""
    goes_on = asyncio.Event()

    async def sleep(_: float) -> None:
        await goes_on.wait()

    with RedisServer() as server:
        async with (
            Sandbox(itwins=5, latency=1.0, sleep=sleep) as sandbox,
            RedisGate(server.url, name="test, app 7", max_in_flight=1) as gate,
            PlatformClient(sandbox.base_url, vendor="v", token="planted-token", gate=gate) as platform,
        ):
            found = [asyncio.create_task(platform.itwins.list(search="planted-search").collect()) for _ in range(2)]
            await until_subscribed(server)
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


async def test_closing_leaves_what_was_given_open() -> None:
    """A closed gate rejects calls, and leaves the redis client that it was given open."""
    with RedisServer() as server:
        connection = redis.asyncio.Redis.from_url(server.url)
        async with RedisGate(connection, name="test") as gate:
            gate.responded(await enter(gate))
            opened = connections(server)
        with pytest.raises(UsageError, match="the gate is closed"):
            await enter(gate)
        assert opened
        assert opened <= connections(server)
        await connection.aclose()


def connections(server: RedisServer) -> set[str]:
    """Return the numbers of all connections but the one that asks."""
    with server.client as client:
        number = str(client.client_id())
        return {each["id"] for each in client.client_list()} - {number}
