"""A gate without its Redis server uses its local share of the limit, and shares it again when the server is back."""

import asyncio
import logging
import re

import pytest
import redis.asyncio
from itwin_platform import GateChanged, RateLimit, RedisGate, UsageError
from redis._parsers.base import BaseParser

from tests.support.faces import LEASE, WaitTooLongError, module_of
from tests.support.real_time import until
from tests.support.redis_gates import clocked_gate, enter, gates, needs_redis, set_clock, until_queued
from tests.support.redis_server import RedisServer

pytestmark = [*needs_redis, pytest.mark.usefixtures("quick_reconnect")]


async def test_a_dead_process_gives_its_permits_back(
    empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The permits of a process that dies are free again after its lease."""
    monkeypatch.setattr(module_of("POLL_INTERVAL"), "POLL_INTERVAL", 0.01)
    set_clock(empty_server, 0)
    dying = clocked_gate(empty_server, max_in_flight=2)
    async with clocked_gate(empty_server, max_in_flight=2) as living:
        await enter(dying)
        await enter(dying)
        assert dying._pump is not None
        dying._pump.cancel()
        waiting = asyncio.create_task(enter(living))
        await until_queued(empty_server)
        assert not waiting.done()
        set_clock(empty_server, LEASE + 1.0)
        living.abandoned(await waiting)
        await dying._state.aclose()


async def test_without_the_server_each_process_uses_its_local_share(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """When the server dies, waiting calls get permits of the local share, with one warning and one event."""
    caplog.set_level(logging.INFO, "itwin_platform")
    events: list[GateChanged] = []
    async with gates(own_server.url, 1, max_in_flight=8, workers=4, on_event=events.append) as (gate,):
        held = [await enter(gate) for _ in range(8)]
        waiting = [asyncio.create_task(enter(gate)) for _ in range(4)]
        own_server.kill()
        await until(lambda: gate._is_lost)
        for permit in held:
            gate.abandoned(permit)
        await until(lambda: sum(task.done() for task in waiting) == 2)
        assert [task.done() for task in waiting] == [True, True, False, False]
        own_server.start()
        await asyncio.gather(*waiting)
        assert not gate._is_lost
        for task in waiting:
            gate.abandoned(task.result())
    assert [(event.name, event.is_shared) for event in events] == [("test, app 7", False), ("test, app 7", True)]
    assert [(record.levelname, record.message.partition(": ")[0]) for record in caplog.records] == [
        ("WARNING", "gate 'test, app 7' continues without its server"),
        ("INFO", "gate 'test, app 7' is shared again"),
    ]


async def test_a_server_that_never_was_is_no_error(own_server: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    """Without a server from the start, calls use the local share, after one warning."""
    own_server.kill()
    async with gates(own_server.url, 1) as (gate,):
        for _ in range(30):
            gate.abandoned(await enter(gate))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_calls_that_never_wait_find_the_server_again(own_server: RedisServer) -> None:
    """A process whose calls come one at a time shares the limit again, with a call after the server is back."""
    own_server.kill()
    async with gates(own_server.url, 1) as (gate,):
        gate.abandoned(await enter(gate))
        await until(lambda: gate._pump is not None and gate._pump.done())
        own_server.start()
        permit = await enter(gate)
        await until(lambda: not gate._is_lost)
        gate.abandoned(permit)


async def test_a_server_that_hangs_blocks_no_call(own_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the server does not reply in time, calls use the local share, and share the limit again later."""
    monkeypatch.setattr(module_of("SERVER_TIMEOUT"), "SERVER_TIMEOUT", 0.1)
    async with gates(own_server.url, 1) as (gate,):
        gate.abandoned(await enter(gate))
        own_server.hang()
        gate.abandoned(await enter(gate))
        assert gate._is_lost
        own_server.go_on()
        permit = await enter(gate)
        await until(lambda: not gate._is_lost)
        gate.abandoned(permit)


async def test_a_cooldown_survives_the_server(own_server: RedisServer) -> None:
    """The first gate that reconnects to an emptied server stores its cooldown there."""
    async with gates(own_server.url, 2) as (one, two):
        first, second = await enter(one), await enter(one)
        own_server.kill()
        one.rate_limited(first, wait=60.0)
        await until(lambda: one._is_lost)
        own_server.start()
        await until(lambda: not one._is_lost)
        with pytest.raises(WaitTooLongError):
            await enter(two, max_wait=1.0)
        one.abandoned(second)


async def test_a_cooldown_outlives_a_reply_that_is_older(own_server: RedisServer) -> None:
    """A reply sent before the 429 was reported neither ends the cooldown nor grants a permit."""
    async with gates(own_server.url, 1) as (gate,):
        permit = await enter(gate)
        own_server.hang()
        waiting = asyncio.create_task(enter(gate, max_wait=100.0))
        await until(lambda: gate._asked == 1)
        gate.rate_limited(permit, wait=60.0)
        own_server.go_on()
        while gate._is_cooldown_unreported:  # each step of the loop is looked at
            assert gate.cooldown_left() > 50.0
            await asyncio.sleep(0)
        assert gate.cooldown_left() > 50.0
        assert not gate._is_lost
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_local_permit_is_not_reported_to_the_server(own_server: RedisServer) -> None:
    """A local permit does not count against the shared rate, even when its attempt starts after the reconnect."""
    own_server.kill()
    async with gates(own_server.url, rate=RateLimit(1, 60.0)) as (one, two):
        permit = await enter(one)
        assert one._is_lost
        own_server.start()
        await until(lambda: not one._is_lost)
        one.responded(permit)
        await one.aclose()
        two.abandoned(await enter(two, max_wait=1.0))
        assert not two._is_lost


async def test_the_429_of_a_local_permit_stops_all(own_server: RedisServer) -> None:
    """A call that began without the server meets a rate limit after the reconnect: its cooldown holds for everybody."""
    own_server.kill()
    async with gates(own_server.url) as (one, two):
        permit = await enter(one)
        own_server.start()
        await until(lambda: not one._is_lost)
        one.rate_limited(permit, wait=60.0)
        await until(lambda: not one._is_cooldown_unreported)
        for gate in (two, one):
            with pytest.raises(WaitTooLongError):
                await enter(gate, max_wait=1.0)


async def test_a_flushed_script_is_loaded_again(empty_server: RedisServer) -> None:
    """A gate loads its script again after SCRIPT FLUSH, and no call fails."""
    async with gates(empty_server.url, 1) as (gate,):
        gate.abandoned(await enter(gate))
        with empty_server.client as client:
            client.script_flush()
        gate.abandoned(await enter(gate))
        assert not gate._is_lost


@pytest.mark.parametrize(
    ("code", "breaks", "heals"),
    [
        ("OOM", ["CONFIG SET maxmemory 1"], "CONFIG SET maxmemory 0"),
        ("READONLY", ["REPLICAOF 127.0.0.1 1"], "REPLICAOF NO ONE"),
        ("MASTERDOWN", ["CONFIG SET replica-serve-stale-data no", "REPLICAOF 127.0.0.1 1"], "REPLICAOF NO ONE"),
        ("MISCONF", ['CONFIG SET save "900 1"', "BGSAVE"], "CONFIG SET stop-writes-on-bgsave-error no"),
        ("BUSY", ["CONFIG SET lua-time-limit 1", 'EVAL "while true do end" 0'], "SCRIPT KILL"),
        ("WRONGTYPE", ["HSET itwin-gate:{broken}:state field value"], "DEL itwin-gate:{broken}:state"),
    ],
)
async def test_a_server_that_cannot_write_is_no_error(
    own_server: RedisServer,
    caplog: pytest.LogCaptureFixture,
    code: str,
    breaks: list[str],
    heals: str,
) -> None:
    """Whatever keeps the server from running the script, calls use the local share, and one warning names the code."""
    with own_server.client as client:
        own_server.spoil_dump()
        for command in breaks:
            own_server.send(command)
        if code == "MISCONF":
            await until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        async with RedisGate(own_server.url, name="broken") as gate:
            for _ in range(20):
                gate.responded(await enter(gate))
            assert gate._is_lost
            client.execute_command(*heals.split())
            permit = await enter(gate)
            await until(lambda: not gate._is_lost)
            gate.responded(permit)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("gate 'broken' continues without its server: ")
    # redis-py drops the code of these where the server is Redis 7.
    name = {"OOM": "OutOfMemoryError", "READONLY": "ReadOnlyError", "MASTERDOWN": "MasterDownError"}.get(code, code)
    assert re.search(rf"(responds with an error|is unreachable) \(({code}|{name})", warning)


async def test_a_user_without_permission_is_a_usage_error_at_each_call(own_server: RedisServer) -> None:
    """A user that may not run scripts gets UsageError from each call, until the server permits it."""
    with own_server.client as client:
        client.execute_command("ACL", "SETUSER", "gate", "on", ">secret", "~*", "&*", "+@all", "-@scripting")
        url = own_server.url.replace("unix://", "unix://gate:secret@")
        async with gates(url, 1) as (gate,):
            for _ in range(3):
                with pytest.raises(UsageError, match=r"does not permit the user what the gate needs \(N"):
                    await enter(gate)
            client.execute_command("ACL", "SETUSER", "gate", "+@scripting")
            gate.responded(await enter(gate))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("NOREPLICAS Not enough good replicas to write.", "NOREPLICAS"),
        ("CLUSTERDOWN The cluster is down", "ClusterDownError"),
    ],
)
async def test_what_only_other_servers_respond_is_named(
    text: str, code: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Prepared replies of a cluster, and of Redis 7, which alone counts replicas before it runs a script."""
    client = redis.asyncio.Redis()

    async def respond(*command: object) -> object:
        raise BaseParser.parse_error(text)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(client, "execute_command", respond)
    async with RedisGate(client, name="test") as gate:
        gate.responded(await enter(gate))
    assert caplog.messages == [
        f"gate 'test' continues without its server: the given client responds with an error ({code})"
    ]
