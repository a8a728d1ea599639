"""RedisGate on a real server: one limit for several gates, each of which stands for a process."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import redis.asyncio
from itwin_platform import (
    BackoffPolicy,
    BackoffTransport,
    GateChanged,
    Permit,
    RateLimit,
    RedisGate,
    UsageError,
    WaitTooLongError,
)
from itwin_platform._gates import redis as redis_module, shared as shared_module
from itwin_platform._gates.shared import SharedGate
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.support.redis_server import RedisServer, server_program
from tests.support.scripted_transport import ScriptedTransport, send

pytestmark = pytest.mark.skipif(server_program() is None, reason="no Redis server is installed")

#: Time is real here, because the server's is: nothing may take longer than this.
PATIENCE = 5.0


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """One server for those that do not harm it."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def fresh(server: RedisServer) -> RedisServer:
    """The server, empty."""
    client = server.client
    client.flushall()
    client.close()
    return server


@pytest.fixture
def own() -> Iterator[RedisServer]:
    """A server to be killed."""
    with RedisServer() as server:
        yield server


def run(work: Callable[[], Any]) -> None:
    """Run a test in a loop with real time."""

    async def bounded() -> None:
        async with asyncio.timeout(4 * PATIENCE):
            await work()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(bounded())


@asynccontextmanager
async def gates(url: str, count: int = 2, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """So many gates of one name, as so many processes would have."""
    opened = [RedisGate(url, name="test, app 7", **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()} | {
            task for task in asyncio.all_tasks() if "bounded" in repr(task)
        }


async def enter(gate: SharedGate, *, max_wait: float = 60.0) -> Permit:
    """Wait at a gate."""
    async with asyncio.timeout(PATIENCE):
        return await gate.enter(gate.ticket(), max_wait=max_wait, until=None)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what other tasks, or the server, bring about."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # it is brought about by a server
            await asyncio.sleep(0.005)


def test_processes_share_what_is_in_flight(fresh: RedisServer) -> None:
    """However they come, no more are in flight than allowed, and all are served."""

    async def work() -> None:
        now = most = served = 0

        async def call(gate: RedisGate) -> None:
            nonlocal now, most, served
            permit = await enter(gate)
            gate.sending(permit)
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.002)
            now -= 1
            served += 1
            gate.answered(permit)

        async with gates(fresh.url, 3, max_in_flight=4) as opened:
            await asyncio.gather(*(call(gate) for gate in opened for _ in range(40)))
        assert (most, served) == (4, 120)

    run(work)


def test_a_free_permit_goes_to_who_waits_without_polling(fresh: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server hands it over: nobody asks for it again."""
    monkeypatch.setattr(shared_module, "POLL_INTERVAL", 1000.0)

    async def work() -> None:
        async with gates(fresh.url, 3, max_in_flight=1) as (one, two, three):
            permit = await enter(one)
            second = asyncio.create_task(enter(two))
            await until(lambda: two._listens and two._asked == 1)
            third = asyncio.create_task(enter(three))
            await until(lambda: three._listens and three._asked == 1)
            for gate, waiting in ((one, second), (two, third)):
                await asyncio.sleep(0.01)
                gate.sending(permit)
                gate.answered(permit)
                permit = await waiting
            three.abandoned(permit)

    run(work)


def test_a_silent_subscription_still_hands_over(fresh: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long no message came, the next one is heard."""
    monkeypatch.setattr(redis_module, "_LISTEN_INTERVAL", 0.001)
    monkeypatch.setattr(shared_module, "POLL_INTERVAL", 1000.0)
    events: list[GateChanged] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        async with gates(fresh.url, max_in_flight=1, on_event=events.append) as (one, two):
            permit = await enter(one)
            waiting = asyncio.create_task(enter(two))
            await until(lambda: two._listens and two._asked == 1)
            silent_since = loop.time()
            await until(lambda: loop.time() > silent_since + 0.05)
            one.abandoned(permit)
            two.abandoned(await waiting)

    run(work)
    assert events == []


@pytest.mark.parametrize("retries", [0, 1], ids=["client gives up", "client subscribes again"])
def test_a_cut_subscription_holds_nobody_up(fresh: RedisServer, monkeypatch: pytest.MonkeyPatch, retries: int) -> None:
    """Messages may be lost with it: who waits goes on with the local share, and the gate is shared again later."""
    monkeypatch.setattr(shared_module, "POLL_INTERVAL", 0.1)
    monkeypatch.setattr(shared_module, "RETRY_INTERVAL", 0.05)
    events: list[GateChanged] = []

    async def work() -> None:
        client = redis.asyncio.Redis.from_url(fresh.url, retry=Retry(NoBackoff(), retries))
        async with gates(fresh.url, 1, max_in_flight=1) as (one,):
            permit = await enter(one)
            async with RedisGate(client, name="test, app 7", max_in_flight=1, on_event=events.append) as two:
                waiting = asyncio.create_task(enter(two))
                await until(lambda: two._listens and two._asked == 1)
                with fresh.client as other:
                    other.client_kill_filter(_type="pubsub")
                second = await waiting
                await until(lambda: len(events) == 2)
                two.abandoned(second)
            one.abandoned(permit)
        await client.aclose()

    run(work)
    assert [event.is_shared for event in events] == [False, True]


def test_a_429_of_one_process_closes_all(fresh: RedisServer) -> None:
    """The one that got it at once, the others with their next call; then the window opens slowly for all together."""

    async def work() -> None:
        async with gates(fresh.url) as (one, two):
            permit = await enter(one)
            one.sending(permit)
            one.rate_limited(permit, wait=0.3)
            assert one.cooldown_left() > 0.2
            await asyncio.sleep(0.05)
            with pytest.raises(WaitTooLongError):
                await enter(two, max_wait=0.1)
            tasks = [asyncio.create_task(enter(gate)) for gate in (one, two) for _ in range(3)]
            done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            assert len(done) == 1
            await asyncio.sleep(0.05)
            assert sum(task.done() for task in tasks) == 1
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    run(work)


def test_processes_share_a_rate(fresh: RedisServer) -> None:
    """Of ten calls five go out; a permit that is not used leaves its place to another process."""

    async def work() -> None:
        async with gates(fresh.url, rate=[RateLimit(5, 60.0), RateLimit(100, 3600.0)]) as (one, two):
            tasks = [asyncio.create_task(enter(gate)) for gate in (one, two) for _ in range(5)]
            await until(lambda: sum(task.done() for task in tasks) == 5)
            unused = next(task for task in tasks if task.done())
            (one if tasks.index(unused) < 5 else two).abandoned(unused.result())
            await until(lambda: sum(task.done() for task in tasks) == 6)
            for task, gate in zip(tasks, [one] * 5 + [two] * 5, strict=True):
                if task.done() and task is not unused:
                    gate.sending(task.result())
                    gate.answered(task.result())
            await asyncio.sleep(0.1)
            assert sum(task.done() for task in tasks) == 6
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    run(work)


def test_one_exchange_serves_a_call(fresh: RedisServer) -> None:
    """Without contention the end of one attempt travels with the next one, so that each call costs one command."""

    async def work() -> None:
        async with gates(fresh.url, 1) as (gate,):
            for _ in range(50):
                permit = await enter(gate)
                gate.sending(permit)
                gate.answered(permit)
        with fresh.client as client:
            calls = client.info("commandstats")["cmdstat_evalsha"]["calls"]
        assert calls <= 55

    with fresh.client as client:
        client.config_resetstat()
    run(work)


def test_a_process_that_dies_gives_its_permits_back(fresh: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within its lease: it held every permit, and nobody reports them any more."""
    monkeypatch.setattr(redis_module, "LEASE", 0.4)
    monkeypatch.setattr(shared_module, "POLL_INTERVAL", 0.1)

    async def work() -> None:
        async with gates(fresh.url, 1, max_in_flight=2) as (living,):
            dying = RedisGate(fresh.url, name="test, app 7", max_in_flight=2)
            await enter(dying)
            await enter(dying)
            assert dying._pump is not None
            dying._pump.cancel()
            began = asyncio.get_running_loop().time()
            await enter(living)
            assert asyncio.get_running_loop().time() - began < 1.0
            await dying._engine.aclose()

    run(work)


def test_without_the_server_each_process_goes_on_with_its_share(
    own: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed midway: waiting tasks go on, one warning and one event; when it is back, the limit is shared again."""
    monkeypatch.setattr(shared_module, "RETRY_INTERVAL", 0.05)
    caplog.set_level(logging.INFO, "itwin_platform")
    events: list[GateChanged] = []

    async def work() -> None:
        async with gates(own.url, 1, max_in_flight=8, workers=4, on_event=events.append) as (gate,):
            held = [await enter(gate) for _ in range(8)]
            waiting = [asyncio.create_task(enter(gate)) for _ in range(4)]
            own.kill()
            await until(lambda: gate._is_lost)
            for permit in held:
                gate.abandoned(permit)
            await until(lambda: sum(task.done() for task in waiting) == 2)
            assert [task.done() for task in waiting] == [True, True, False, False]
            own.start()
            await asyncio.gather(*waiting)
            assert not gate._is_lost
            for task in waiting:
                gate.abandoned(task.result())

    run(work)
    assert [(event.name, event.is_shared) for event in events] == [("test, app 7", False), ("test, app 7", True)]
    assert [(record.levelname, record.message.partition(": ")[0]) for record in caplog.records] == [
        ("WARNING", "gate 'test, app 7' goes on without its server"),
        ("INFO", "gate 'test, app 7' is shared again"),
    ]


def test_a_server_that_was_never_there_is_no_error(own: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    """Calls go on with the local share, after one warning."""
    own.kill()

    async def work() -> None:
        async with gates(own.url, 1) as (gate,):
            for _ in range(30):
                gate.abandoned(await enter(gate))

    run(work)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_server_that_hangs_holds_nobody_up(own: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time limit of an exchange calls go on, and later they are shared again."""
    monkeypatch.setattr(shared_module, "ENGINE_TIMEOUT", 0.1)
    monkeypatch.setattr(shared_module, "RETRY_INTERVAL", 0.05)

    async def work() -> None:
        async with gates(own.url, 1) as (gate,):
            gate.abandoned(await enter(gate))
            own.hang()
            gate.abandoned(await enter(gate))
            assert gate._is_lost
            own.go_on()
            permit = await enter(gate)
            await until(lambda: not gate._is_lost)
            gate.abandoned(permit)

    run(work)


def test_a_cooldown_survives_the_server(own: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that comes back empty learns of it from the first process that rejoins."""
    monkeypatch.setattr(shared_module, "RETRY_INTERVAL", 0.05)

    async def work() -> None:
        async with gates(own.url, 2) as (one, two):
            first, second = await enter(one), await enter(one)
            own.kill()
            one.sending(first)
            one.rate_limited(first, wait=60.0)
            await until(lambda: one._is_lost)
            own.start()
            await until(lambda: not one._is_lost)
            with pytest.raises(WaitTooLongError):
                await enter(two, max_wait=1.0)
            one.abandoned(second)

    run(work)


def test_a_429_during_an_exchange_outlives_its_reply(own: RedisServer) -> None:
    """The reply knows nothing of it: it neither ends the cooldown nor lets anybody in."""

    async def work() -> None:
        async with gates(own.url, 1) as (gate,):
            permit = await enter(gate)
            gate.sending(permit)
            own.hang()
            waiting = asyncio.create_task(enter(gate, max_wait=100.0))
            await until(lambda: gate._asked == 1)
            gate.rate_limited(permit, wait=60.0)
            own.go_on()
            while gate._is_cooldown_unreported:  # each step of the loop is looked at
                assert gate.cooldown_left() > 50.0
                await asyncio.sleep(0)
            assert gate.cooldown_left() > 50.0
            assert not gate._is_lost
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    run(work)


def test_what_goes_out_without_the_server_is_not_reported_to_it(
    own: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it goes out after the server is back: it was no permit of the server, whose rate is still whole."""
    monkeypatch.setattr(shared_module, "RETRY_INTERVAL", 0.05)
    own.kill()

    async def work() -> None:
        async with gates(own.url, rate=RateLimit(1, 60.0)) as (one, two):
            permit = await enter(one)
            assert one._is_lost
            own.start()
            await until(lambda: not one._is_lost)
            one.sending(permit)
            one.answered(permit)
            await one.aclose()
            two.abandoned(await enter(two, max_wait=1.0))
            assert not two._is_lost

    run(work)


def test_a_flushed_script_is_loaded_again(fresh: RedisServer) -> None:
    """Nobody notices."""

    async def work() -> None:
        async with gates(fresh.url, 1) as (gate,):
            gate.abandoned(await enter(gate))
            with fresh.client as client:
                client.script_flush()
            gate.abandoned(await enter(gate))
            assert not gate._is_lost

    run(work)


def test_a_wrong_password_is_a_wrong_use(caplog: pytest.LogCaptureFixture) -> None:
    """Calls raise UsageError, which names the server and not the password."""

    async def work(server: RedisServer) -> None:
        url = server.url.replace("unix://", "unix://:wrong-secret@")
        async with gates(url, 1) as (gate,):
            with pytest.raises(UsageError, match="rejects the connection or the script") as raised:
                await enter(gate)
        assert "wrong-secret" not in str(raised.value) + caplog.text + repr(gate)

    with RedisServer(password="right-secret") as server:
        run(lambda: work(server))


@pytest.mark.parametrize("url", ["http://localhost:6379", "localhost:6379", "redis://localhost:no-port"])
def test_a_wrong_url_is_a_wrong_use(url: str) -> None:
    """It is reported at construction."""
    with pytest.raises(UsageError, match="redis must be a URL such as"):
        RedisGate(url, name="test")


@pytest.mark.parametrize(
    "options", [{"name": " "}, {"name": "a", "workers": 0}, {"name": "a", "max_in_flight": 0}], ids=str
)
def test_values_out_of_range_are_a_wrong_use(options: dict[str, Any]) -> None:
    """They are reported at construction."""
    with pytest.raises(UsageError):
        RedisGate("redis://localhost", **options)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ImportError, match="pip install redis"):
        RedisGate("redis://localhost", name="test")


def test_a_client_of_the_caller_stays_open(fresh: RedisServer) -> None:
    """With strings or bytes as it likes."""

    async def work() -> None:
        client = redis.asyncio.Redis.from_url(fresh.url, decode_responses=True)
        async with RedisGate(client, name="test") as gate:
            permits = [await enter(gate) for _ in range(20)]
            waiting = asyncio.create_task(enter(gate))
            await until(lambda: gate._listens)
            gate.abandoned(permits[0])
            await waiting
        assert await client.ping()
        await client.aclose()

    run(work)


def test_closing_ends_the_waits_and_leaves_no_task(fresh: RedisServer) -> None:
    """Who waits raises UsageError; what ended before is reported, so that others have it at once."""

    async def work() -> None:
        async with gates(fresh.url, 2, max_in_flight=1) as (one, two):
            permit = await enter(one)
            waiting = asyncio.create_task(enter(one))
            await until(lambda: one._listens)
            one.abandoned(permit)
            with suppress(UsageError):
                await asyncio.gather(one.aclose(), waiting)
            with pytest.raises(UsageError, match="the gate is closed"):
                await enter(one)
            two.abandoned(await enter(two))

    run(work)


def test_closing_a_gate_that_nobody_used_asks_no_server(own: RedisServer) -> None:
    """Without a server it closes too, silently and for good."""
    own.kill()
    events: list[GateChanged] = []

    async def work() -> None:
        async with gates(own.url, 1, on_event=events.append) as (gate,):
            await gate.aclose()
            with pytest.raises(UsageError, match="the gate is closed"):
                await enter(gate)

    run(work)
    assert events == []


def test_an_idle_gate_has_no_task(fresh: RedisServer) -> None:
    """When nothing is in flight nothing runs, so that a program may end without closing it."""

    async def work() -> None:
        async with gates(fresh.url, 1) as (gate,):
            gate.abandoned(await enter(gate))
            await until(lambda: gate._pump is not None and gate._pump.done())

    run(work)


def test_processes_share_the_retry_budget(fresh: RedisServer) -> None:
    """What one spends the other has no longer."""

    async def work() -> None:
        async with gates(fresh.url) as (one, two):
            policy = BackoffPolicy(base_delay=0.0, max_attempts=100)
            services = [ScriptedTransport(503), ScriptedTransport(503)]
            for service, gate in zip(services, (one, two), strict=True):
                assert (await send(BackoffTransport(service, gate=gate, policy=policy))).status_code == 503
            sent = sum(len(service.requests) for service in services)
            # 90 pays for 18 retries at 5 each; the two first attempts come on top.
            assert sent == 20

    run(work)


def test_a_retry_that_succeeds_leaves_the_shared_budget_whole(fresh: RedisServer) -> None:
    """What it spent is given back to all."""

    async def work() -> None:
        async with gates(fresh.url) as (one, two):
            policy = BackoffPolicy(base_delay=0.0, max_attempts=100)
            recovering = BackoffTransport(ScriptedTransport(*[503, 200] * 20), gate=one, policy=policy)
            for _ in range(20):
                assert (await send(recovering)).status_code == 200
            await one.aclose()
            failing = ScriptedTransport(503)
            assert (await send(BackoffTransport(failing, gate=two, policy=policy))).status_code == 503
            # 90 pays for 18 retries at 5 each; the first attempt comes on top.
            assert len(failing.requests) == 19

    run(work)


def test_keys_expire_and_name_only_the_gate(fresh: RedisServer) -> None:
    """All hold one hash tag made from the name, and each goes by itself when nobody uses it."""

    async def work() -> None:
        async with gates(fresh.url, 2, max_in_flight=1, rate=RateLimit(5, 60.0)) as (one, two):
            permit = await enter(one)
            waiting = asyncio.create_task(enter(two))
            await until(lambda: two._listens and two._asked == 1)
            await asyncio.sleep(0.02)
            with fresh.client as client:
                keys = sorted(client.keys("*"))
                assert keys == sorted(
                    f"itwin-gate:{{test, app 7}}:{part}"
                    for part in ("leases", "log", "processes", "queue", "state", "wants")
                )
                assert all(0 < client.ttl(key) <= 3600 for key in keys)
            one.abandoned(permit)
            two.abandoned(await waiting)

    run(work)
