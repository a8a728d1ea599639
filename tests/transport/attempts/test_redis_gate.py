"""RedisGate on a real server: gates with one name share one limit, also after the server was lost."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from itwin_platform_transport import GateChanged, RateLimit, RedisGate, UsageError
from itwin_platform_transport.gates import redis as redis_module
from itwin_platform_transport.gates.window import WaitTooLongError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.support.gates import NAME, enter, gates, needs_redis, until_idle, until_subscribed
from tests.support.networks import server_context
from tests.support.real_time import until
from tests.support.redis_server import RedisServer

pytestmark = [*needs_redis, pytest.mark.usefixtures("quick_reconnect")]


async def test_processes_share_the_permits(empty_server: RedisServer) -> None:
    """Three gates together never exceed `max_in_flight`, and every call gets a permit."""
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
    """The server wakes the first waiting process, with any characters in the name of the gate."""
    events: list[GateChanged] = []
    options: dict[str, Any] = {"name": 'Größe "7" \\ {🚧}', "max_in_flight": 1, "on_event": events.append}
    with empty_server.client as client:
        client.config_resetstat()
        async with gates(empty_server.url, 3, **options) as (one, two, three):
            permit, waiting = await enter(one), []
            for processes, gate in enumerate((two, three), start=1):
                waiting.append(enter(gate))
                await until_subscribed(empty_server, processes, name=options["name"])
            # A process that waits asks again when it is subscribed.
            await until(lambda: client.info("commandstats")["cmdstat_evalsha"]["calls"] >= 5)
            for gate, task in zip((one, two), waiting, strict=True):
                gate.responded(permit)
                permit = await task
            three.abandoned(permit)
    assert events == []


@pytest.mark.parametrize("retries", [0, 1], ids=["client gives up", "client subscribes again"])
@pytest.mark.usefixtures("no_polls")
async def test_a_cut_subscription_is_renewed(
    empty_server: RedisServer, monkeypatch: pytest.MonkeyPatch, retries: int, caplog: pytest.LogCaptureFixture
) -> None:
    """When a subscription is cut, the limit is still shared, and a waiting call is woken for the next permit.

    The client of the caller may decode replies, or not.
    """
    monkeypatch.setattr(redis_module, "LEASE", 1000.0)  # no exchange for a lease
    events: list[GateChanged] = []
    options: dict[str, Any] = {"retry": Retry(NoBackoff(), retries), "decode_responses": retries > 0}
    client = redis.asyncio.Redis.from_url(empty_server.url, **options)
    async with gates(empty_server.url, 1, max_in_flight=1) as (one,):
        permit = await enter(one)
        async with RedisGate(client, name=NAME, max_in_flight=1, on_event=events.append) as two:
            waiting = enter(two)
            await until_subscribed(empty_server)
            with empty_server.client as other:
                other.client_kill_filter(_type="pubsub")
            await until(lambda: "gate 'test, app 7': the lost subscription is renewed: " in caplog.text)
            await until_subscribed(empty_server)
            one.abandoned(permit)
            two.abandoned(await waiting)
    await client.aclose()
    assert events == []


@pytest.mark.parametrize("is_lost", [False, True], ids=["as usual", "while the server is lost"])
async def test_a_cooldown_of_one_process_holds_for_all(own_server: RedisServer, is_lost: bool) -> None:
    """The cooldown is reported at once, or by the first process that reaches a restarted server."""
    events: list[GateChanged] = []
    async with gates(own_server.url, on_event=events.append) as (one, two):
        permit, held = await enter(one), await enter(one)
        if is_lost:
            own_server.kill()
            one.rate_limited(permit, wait=60.0)
            await until(lambda: len(events) == 1)
            own_server.start()
            await until(lambda: events[-1].is_shared)
        else:
            one.abandoned(held)
            one.rate_limited(permit, wait=60.0)
            await until_idle()
        for gate in (two, one):
            with pytest.raises(WaitTooLongError):
                await enter(gate, max_wait=1.0)
        one.abandoned(held)


NOT_PERMITTED = r"denies the user a needed permission \(.+publish and subscribe on its channels"


@pytest.mark.parametrize(
    ("user", "database", "message", "may", "heals"),
    [
        ("gate:wrong-secret@", "", "rejects the user name or the password in redis", ["&*"], ">wrong-secret"),
        ("gate:secret@", "", NOT_PERMITTED, ["&*", "-time"], "+time"),
        ("gate:secret@", "", NOT_PERMITTED, ["&*", "resetkeys", "~other:*"], "~*"),
        ("gate:secret@", "", NOT_PERMITTED, ["&*", "-subscribe"], "+subscribe"),
        ("gate:secret@", "", NOT_PERMITTED, ["resetchannels"], "&*"),
        ("", "?db=99", "has no such database", [], None),
    ],
    ids=["password", "command in the script", "keys", "subscribe", "channels", "database"],
)
async def test_a_wrong_configuration_is_a_usage_error_at_each_call(
    own_server: RedisServer,
    caplog: pytest.LogCaptureFixture,
    user: str,
    database: str,
    message: str,
    may: list[str],
    heals: str | None,
) -> None:
    """Each call raises UsageError until the server permits it, and neither the error nor the log has the password."""
    with own_server.client as client:
        client.execute_command("ACL", "SETUSER", "gate", "on", ">secret", "~*", "+@all", *may)
        async with gates(own_server.url.replace("unix://", f"unix://{user}") + database, 1) as (gate,):
            for _ in range(3):
                with pytest.raises(UsageError, match=message) as raised:
                    await enter(gate)
                assert "secret" not in str(raised.value) + caplog.text + repr(gate)
            if heals is not None:
                client.execute_command("ACL", "SETUSER", "gate", heals)
                gate.responded(await enter(gate))


async def test_the_permissions_that_the_docs_list_are_enough(own_server: RedisServer) -> None:
    """They suffice for processes that wait for each other, with a known rate."""
    page = (Path(__file__).parents[3] / "docs" / "several-workers.md").read_text("utf-8")
    (words,) = re.findall(r"^ACL (SETUSER gate .+)$", page, re.MULTILINE)
    with own_server.client as client:
        client.execute_command("ACL", *words.split())
    url = own_server.url.replace("unix://", "unix://gate:password@")

    async def call(gate: RedisGate) -> None:
        gate.responded(await enter(gate))

    events: list[GateChanged] = []
    async with gates(url, 2, max_in_flight=1, rate=RateLimit(1000, 1), on_event=events.append) as opened:
        await asyncio.gather(*(call(gate) for gate in opened for _ in range(10)))
    assert events == []


@pytest.mark.parametrize(
    ("named", "wrong", "message"),
    [
        ("redis", ["http://localhost", "localhost:6379", "redis://a:b"], "redis must be a URL such as"),
        ("redis", [redis.Redis()], r"a client of redis\.asyncio, not a synchronous one"),
        ("name", [" "], "name must say"),
        ("workers", [0], "workers must be"),
        ("max_in_flight", [0, 2.5], "max_in_flight must be"),
    ],
)
def test_a_wrong_argument_is_a_usage_error(named: str, wrong: list[Any], message: str) -> None:
    """A URL that redis-py rejects, a value out of range and a synchronous client are a UsageError."""
    for value in wrong:
        with pytest.raises(UsageError, match=message) as caught:
            RedisGate(**{"redis": "redis://localhost", "name": "test", named: value})
        assert caught.value.argument == named


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the redis package, the constructor raises ImportError with the command that installs it."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match="pip install redis"):
        RedisGate("redis://localhost", name="test")


@pytest.mark.parametrize("is_given", [False, True], ids=["URL", "client"])
def test_a_gate_that_is_never_closed_leaves_no_socket_in_a_loop_that_ended(
    empty_server: RedisServer, is_given: bool
) -> None:
    """It stays shared in consecutive loops. The caller closes the connections of a passed client in each."""
    events: list[GateChanged] = []
    client = redis.asyncio.Redis.from_url(empty_server.url)
    gate = RedisGate(client if is_given else empty_server.url, name="test", on_event=events.append)

    async def work() -> None:
        gate.responded(await enter(gate))
        await until_idle()
        with empty_server.client as looking:
            assert len(looking.client_list()) == 2
        await client.aclose()

    for _ in range(3):
        asyncio.run(work())
    assert events == []


@pytest.mark.parametrize(
    ("code", "breaks", "heals"),
    [
        ("OOM|OutOfMemoryError", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        ("READONLY|ReadOnlyError", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
        ("WRONGTYPE", "HSET itwin-gate:{broken}:state field value", "DEL itwin-gate:{broken}:state"),
    ],
)
async def test_a_server_that_cannot_run_the_script_is_no_error(
    own_server: RedisServer, caplog: pytest.LogCaptureFixture, code: str, breaks: str, heals: str
) -> None:
    """Calls then use the local share of the process, and one warning has the error code."""
    with own_server.client as client:
        client.execute_command(*breaks.split())
        events: list[GateChanged] = []
        async with RedisGate(own_server.url, name="broken", on_event=events.append) as gate:
            for _ in range(20):
                gate.responded(await enter(gate))
            assert [event.is_shared for event in events] == [False]
            client.execute_command(*heals.split())
            permit = await enter(gate)
            await until(lambda: events[-1].is_shared)
            gate.responded(permit)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    # redis-py removes some of the codes of Redis 7.
    assert re.match(rf"gate 'broken' continues without its server: .*responds with an error \(({code})", warning)


async def test_a_server_that_is_not_there_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """Calls use the local share, and a warning says that the server is unreachable."""
    for url in ("unix:///missing/socket", "redis://127.0.0.1:9"):
        async with gates(url, 1) as (gate,):
            gate.responded(await enter(gate))
    assert caplog.text.count("is unreachable") == 2


async def test_a_server_that_cannot_be_trusted_is_a_usage_error() -> None:
    """A certificate that is not trusted, TLS or none against the URL, and a rejected user are a UsageError at once."""

    async def alert(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"\x15\x03\x03\x00\x02\x02\x46\r\n")
        writer.close()

    async def reject(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1) == b"*":  # a command, and no handshake of TLS
            writer.write(b"-WRONGPASS invalid username-password pair\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(alert, "127.0.0.1", 0)
    untrusted = await asyncio.start_server(alert, "127.0.0.1", 0, ssl=server_context())
    locked = await asyncio.start_server(reject, "127.0.0.1", 0)
    async with server, untrusted, locked:
        for scheme, socket, message in (
            ("redis", server.sockets[0], "use rediss:// if it expects TLS"),
            ("redis", untrusted.sockets[0], "expects TLS: use rediss:// in redis"),
            ("redis", locked.sockets[0], "rejects the user name or the password"),
            ("rediss", server.sockets[0], "cannot be trusted, or does not speak TLS"),
            ("rediss", untrusted.sockets[0], r"cannot be trusted, .*certificate_verify_failed"),
        ):
            async with gates(f"{scheme}://127.0.0.1:{socket.getsockname()[1]}", 1) as (gate,):
                with pytest.raises(UsageError, match=message):
                    await enter(gate)
