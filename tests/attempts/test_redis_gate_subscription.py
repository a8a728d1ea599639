"""A free permit reaches a waiting call by a message of the Redis server."""

import asyncio

import pytest
import redis.asyncio
from itwin_platform import GateChanged, RedisGate
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.support.faces import module_of
from tests.support.real_time import until
from tests.support.redis_gates import enter, gates, needs_redis, until_queued
from tests.support.redis_server import RedisServer

pytestmark = needs_redis


@pytest.mark.usefixtures("no_polls")
async def test_a_subscription_survives_a_silence(empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate receives a message that comes long after the previous one."""
    monkeypatch.setattr(module_of("_LISTEN_INTERVAL"), "_LISTEN_INTERVAL", 0.001)
    events: list[GateChanged] = []
    loop = asyncio.get_running_loop()
    async with gates(empty_server.url, max_in_flight=1, on_event=events.append) as (one, two):
        permit = await enter(one)
        waiting = asyncio.create_task(enter(two))
        await until(lambda: two._listens and two._asked == 1)
        silent_since = loop.time()
        await until(lambda: loop.time() > silent_since + 0.05)
        one.abandoned(permit)
        two.abandoned(await waiting)
    assert events == []


@pytest.mark.parametrize("retries", [0, 1], ids=["client gives up", "client subscribes again"])
@pytest.mark.usefixtures("no_polls")
async def test_a_cut_subscription_is_made_anew(
    empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch, retries: int, caplog: pytest.LogCaptureFixture
) -> None:
    """When the subscription is cut, the limit is still shared, and a waiting call hears of the next permit."""
    # No other exchange is due for a long time.
    monkeypatch.setattr(module_of("LEASE"), "LEASE", 1000.0)
    monkeypatch.setattr(module_of("FIRST_PAUSE"), "FIRST_PAUSE", 0.05)
    events: list[GateChanged] = []
    client = redis.asyncio.Redis.from_url(empty_server.url, retry=Retry(NoBackoff(), retries))
    async with gates(empty_server.url, 1, max_in_flight=1) as (one,):
        permit = await enter(one)
        async with RedisGate(client, name="test, app 7", max_in_flight=1, on_event=events.append) as two:
            waiting = asyncio.create_task(enter(two))
            await until_queued(empty_server)
            with empty_server.client as other:
                other.client_kill_filter(_type="pubsub")
            await until(lambda: not two._listens)
            await until(lambda: two._listens)
            await until_queued(empty_server)
            one.abandoned(permit)
            two.abandoned(await waiting)
    await client.aclose()
    assert events == []
    assert "gate 'test, app 7': its subscription is made anew: " in caplog.text


async def test_a_deaf_subscription_stops_nobody(
    empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that brings nothing any more is noticed without a sign of life; the others take the free permits."""
    monkeypatch.setattr(module_of("_LISTEN_INTERVAL"), "_LISTEN_INTERVAL", 0.05)
    monkeypatch.setattr(module_of("FIRST_PAUSE"), "FIRST_PAUSE", 0.05)
    async with gates(empty_server.url, 3, max_in_flight=1) as (one, deaf, other):
        permit = await enter(one)
        read = PubSub.get_message

        async def silent(self: PubSub, *args: object, **options: object) -> object:
            if listening and self is listening[0]:
                await asyncio.sleep(0.05)
                return None
            if not listening:
                listening.append(self)
            return await read(self, *args, **options)  # type: ignore[arg-type]

        listening: list[PubSub] = []
        monkeypatch.setattr(PubSub, "get_message", silent)
        waiting = asyncio.create_task(enter(deaf))
        await until_queued(empty_server)
        second = asyncio.create_task(enter(other))
        await until_queued(empty_server, 2)
        one.abandoned(permit)
        for task, gate in ((waiting, deaf), (second, other)):
            gate.abandoned(await task)
    assert "its subscription is made anew: it is silent" in caplog.text


async def test_a_name_may_hold_any_characters(empty_server: RedisServer) -> None:
    """A permit reaches a waiting call whatever the gate's name consists of."""
    one, two = (RedisGate(empty_server.url, name='Größe "7" \\ {🚧}', max_in_flight=1) for _ in range(2))
    async with one, two:
        permit = await enter(one)
        waiting = asyncio.create_task(enter(two))
        await until(lambda: two._listens and two._asked == 1)
        one.abandoned(permit)
        two.abandoned(await waiting)
