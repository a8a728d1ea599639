"""What RedisGate tells its server, and when; and what errors of a server mean. It needs no server, and no real time."""

import asyncio
import logging
import ssl
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import redis.asyncio
import redis.exceptions as errors
from itwin_platform_transport import GateChanged, RateLimit, RedisGate, StateError, UsageError
from itwin_platform_transport.gates.redis import RedisState, Reply, ServerRejectsError, ServerUnreachableError

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, hold, settle
from tests.support.redis_clients import PreparedRedis, reply


def gate_with(*steps: Reply | Exception | None, **options: Any) -> tuple[RedisGate, PreparedRedis]:
    """Return a gate whose server does these steps, and the server."""
    server = PreparedRedis(steps=list(steps))
    return RedisGate(server, name="n", random_number=lambda: 1.0, **options), server


def told(server: PreparedRedis, *names: str) -> list[tuple[Any, ...]]:
    """When each exchange came, with these of its values."""
    return [(each.at, *(getattr(each, name) for name in names)) for each in server.exchanges]


async def test_what_ended_is_told_with_the_next_request_or_after_a_moment() -> None:
    """A gate asks at once, keeps its permits every third of a lease, and waits 10 ms for company of what ended."""
    gate, state = gate_with(reply(7), reply(8), reply())
    permit = await enter(gate)
    second = await enter(gate)
    gate.responded(permit)
    await asyncio.sleep(3.0)
    gate.unused(second)
    await asyncio.sleep(100.0)
    rejoins = [each.rejoins for each in state.exchanges]
    assert rejoins == [True, *[False] * (len(rejoins) - 1)]
    assert told(state, "wants", "kept", "reports") == [
        (0.0, 1, [], []),
        (0.0, 1, [], []),
        (0.01, 0, [], [("responded", 7, 9.0)]),
        (2.01, 0, [8], []),
        (3.01, 0, [], [("unused", 8, 9.0)]),
    ]
    await gate.aclose()


@pytest.mark.parametrize(("kind", "is_waited_for"), [("contended", False), ("waiting", True), ("rate limited", False)])
async def test_what_others_wait_for_is_told_at_once(kind: str, is_waited_for: bool) -> None:
    """A permit that another call or process waits for, and a 429, with its jitter."""
    gate, state = gate_with(reply(7, is_contended=kind == "contended"), reply(is_contended=kind == "contended"))
    permit = await enter(gate)
    await asyncio.sleep(0.5)
    waiting = [enter(gate)] if is_waited_for else []
    await settle()
    if kind == "rate limited":
        gate.rate_limited(permit, wait=3.0)
    else:
        gate.abandoned(permit)
    await settle()
    at, reports = told(state, "reports")[-1]
    assert at == 0.5
    assert reports == [("rate_limited", 7, 9.0, 3.0, 1.0) if kind == "rate limited" else ("abandoned", 7, 9.0)]
    await end(waiting)
    await gate.aclose()


@pytest.mark.parametrize(
    ("wait", "rank", "jitter", "seconds"),
    [
        (None, 0, 0.0, 1.0),
        (None, 10, 0.0, 1.0 + 0.5 + 0.02),
        (None, 179, 0.0, 1.0 + 8.95 + 0.358),
        (None, 1_000, 0.0, 10.0 + 1.0),
        (3.5, 2, 0.0, 3.5 + 0.004),
        (0.0, 0, 1.0, 0.002),
    ],
)
def test_a_process_asks_again_when_its_turn_may_have_come(
    wait: float | None, rank: int, jitter: float, seconds: float
) -> None:
    """When the server says so, or after a second and more for each process before it; those of a moment in turn."""
    assert reply(wait=wait, rank=rank).poll_delay(jitter=jitter) == pytest.approx(seconds)


async def test_a_server_that_is_lost_is_tried_again_after_longer_and_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is given one second, then one, two, four, eight and ten, with a tenth of jitter; then all is told anew."""
    caplog.set_level(logging.INFO)
    events: list[GateChanged] = []
    gate, state = gate_with(None, on_event=events.append)
    permit = await enter(gate, max_wait=0.0)
    assert asyncio.get_running_loop().time() == 1.0
    await asyncio.sleep(50.0)
    assert [round(later - at - 1.0, 3) for (at,), (later,) in zip(told(state), told(state)[1:], strict=False)] == [
        *(1.1, 2.2, 4.4, 8.8, 11.0, 11.0)
    ]
    ends_at = asyncio.get_running_loop().time() + 50.0
    gate.rate_limited(permit, wait=50.0)
    state.steps = [reply(cooldown=40.0)]
    await asyncio.sleep(13.0)
    at, rejoins, reports = told(state, "rejoins", "reports")[-1]
    assert (rejoins, reports) == (True, [("cooldown", 0, 0.0, pytest.approx(ends_at - at))])
    assert [(event.name, event.is_shared, event.reason) for event in events] == [
        ("n", False, "no response within 1 s"),
        ("n", True, None),
    ]
    assert gate.cooldown_left() == pytest.approx(at + 40.0 - asyncio.get_running_loop().time())
    await gate.aclose()


async def test_after_the_server_is_back_the_first_pause_is_short_again() -> None:
    """What ended in the meantime is told to no server: it has not granted it."""
    lost = errors.ConnectionError("planted")
    gate, state = gate_with(*[lost] * 3, reply(), lost, reply())
    permit = await enter(gate)
    gate.abandoned(await enter(gate))
    await asyncio.sleep(20.0)
    late = enter(gate)
    await asyncio.sleep(10.0)
    assert told(state, "reports") == [(at, []) for at in (0.0, 1.1, 3.3, 7.7, 20.0, 21.1)]
    gate.abandoned(permit)
    gate.abandoned(await late)
    await gate.aclose()


@pytest.mark.parametrize(("workers", "at_once"), [(1, 20), (3, 7), (40, 1)])
async def test_a_process_has_its_share_while_the_server_is_lost(workers: int, at_once: int) -> None:
    """Of 20 permits in all, rounded up."""
    gate, _ = gate_with(errors.ConnectionError("planted"), workers=workers)
    waiting = [enter(gate) for _ in range(30)]
    await settle()
    assert (gate.in_flight, repr(gate)) == (
        at_once,
        f"RedisGate(max_in_flight=20, in_flight={at_once}, waiting={30 - at_once})",
    )
    await gate.aclose()
    await end(waiting)


@pytest.mark.parametrize("is_held", [False, True], ids=["only reports", "with a permit"])
def test_a_gate_is_in_use_in_another_event_loop_until_that_is_closed(is_held: bool) -> None:
    """Also when no call of it waits or is in flight; what was in flight in a loop that is closed counts no more."""
    gate, state = gate_with(reply(7, 8) if is_held else reply(7), None)
    loop, other = VirtualTimeLoop(), VirtualTimeLoop()

    async def call() -> None:
        first, *_ = await asyncio.gather(*(enter(gate) for _ in range(1 + is_held)))
        gate.responded(first)

    loop.run_until_complete(call())
    with pytest.raises(StateError, match="in use in another event loop"):
        other.run_until_complete(enter_in(gate))
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    state.steps, state.exchanges = [reply(9)], []
    other.run_until_complete(enter_in(gate))
    assert told(state, "rejoins", "wants", "listens", "kept", "reports") == [(0.0, True, 1, False, [], [])]
    assert gate.in_flight == 0
    other.run_until_complete(gate.aclose())
    other.close()


async def enter_in(gate: RedisGate) -> None:
    """Make a call in a loop."""
    gate.responded(await enter(gate))


SECRET = "rediss://user:planted-secret@127.0.0.1:1/2"
WHERE = "rediss://127.0.0.1:1/2"
NEEDED = "the script, its keys, and publish and subscribe on its channels"
REJECTIONS: dict[str, tuple[Exception, str]] = {
    "a password": (
        errors.AuthenticationError("x"),
        "rejects the user name or the password in redis (AuthenticationError)",
    ),
    "a command": (
        errors.NoPermissionError("x"),
        f"does not permit the user what the gate needs (NoPermissionError): {NEEDED}",
    ),
    **{
        words: (errors.ResponseError(words), f"does not permit the user what the gate needs ({name}): {NEEDED}")
        for words, name in (
            ("NOPERM this user", "NOPERM"),
            ("The user executing the script can't run this command", "ResponseError"),
            ("ERR ACL failure in script: x", "ERR"),
        )
    },
    "no Redis": (errors.InvalidResponse("x"), "does not speak as Redis does: use rediss:// if it expects TLS"),
    "a database": (errors.ResponseError("ERR DB index is out of range"), "has no such database (ERR)"),
}
FAILURES: dict[str, tuple[Exception, str]] = {
    "no connection": (errors.ConnectionError("Error 111 connecting"), "is unreachable (ConnectionError)"),
    "no response": (errors.TimeoutError("x"), "is unreachable (TimeoutError)"),
    "it loads": (errors.BusyLoadingError("LOADING x"), "is unreachable (LOADING)"),
    "it is full": (errors.ResponseError("OOM command not allowed"), "responds with an error (OOM)"),
    "in a script of Redis 6.2": (
        errors.ResponseError("Error running script: -READONLY x"),
        "responds with an error (READONLY)",
    ),
    "without a code": (errors.ResponseError("at x"), "responds with an error (ResponseError)"),
}


async def failure_of(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Exception:
    """Return what an exchange raises when a client of redis-py raises an error."""
    client = Mock(pubsub=lambda: Mock(subscribe=AsyncMock(side_effect=error), aclose=AsyncMock()), aclose=AsyncMock())
    monkeypatch.setattr(redis.asyncio.Redis, "from_url", Mock(return_value=client))
    state = RedisState(SECRET, name="n", max_in_flight=1, rates=())
    with pytest.raises((ServerRejectsError, ServerUnreachableError)) as raised:
        await state.exchange(process="p", rejoins=False, wants=0, listens=False, kept=[], reports=[])
    return raised.value


@pytest.mark.parametrize("case", REJECTIONS | FAILURES)
@pytest.mark.parametrize("is_cause", [False, True], ids=["alone", "as the cause"])
async def test_what_an_error_of_the_server_means(monkeypatch: pytest.MonkeyPatch, case: str, is_cause: bool) -> None:
    """A wrong configuration, or a server that cannot be used for now; where it is, without user and password."""
    error, said = (REJECTIONS | FAILURES)[case]
    if is_cause and case != "no Redis":
        outer = errors.ConnectionError("of redis-py")
        outer.__cause__ = error
        error = outer
    found = await failure_of(monkeypatch, error)
    assert type(found) is (ServerRejectsError if case in REJECTIONS else ServerUnreachableError)
    assert str(found) == f"{WHERE} {said}"


@pytest.mark.parametrize(("reason", "said"), [("CERTIFICATE_VERIFY_FAILED", "certificate_verify_failed"), (None, "")])
async def test_a_server_that_cannot_be_trusted_is_rejected(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, said: str
) -> None:
    """With the reason that OpenSSL names."""
    error, cause = errors.ConnectionError("x"), ssl.SSLError(1, "y")
    error.__cause__, cause.reason = cause, reason  # type: ignore[assignment]  # None where OpenSSL has no name
    found = await failure_of(monkeypatch, error)
    assert str(found) == f"{WHERE} cannot be trusted, or does not speak TLS ({said})"


@pytest.mark.parametrize("error", [errors.AuthenticationError("planted"), errors.ConnectionError("planted")], ids=repr)
async def test_a_rejection_ends_calls_and_an_outage_does_not(error: Exception) -> None:
    """A call that waits gets a UsageError, or a permit of the share of this process."""
    gate, state = gate_with(error)
    if isinstance(error, errors.AuthenticationError):
        with pytest.raises(UsageError, match=r"^RedisGate: the given client rejects the user name or the password"):
            await enter(gate)
        state.steps = [reply(7), error]
        gate.abandoned(await enter(gate))
        for _ in range(2):
            with pytest.raises(UsageError):
                await enter(gate)
        assert [rejoins for _, rejoins in told(state, "rejoins")] == [True, True, False, True]
    else:
        gate.abandoned(await enter(gate))
    await gate.aclose()


async def test_closing_waits_until_the_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a URL; a second time there is nothing to close, and what closing raises is no error of the program."""
    for fault in (None, ConnectionResetError("the peer was quicker")):
        client = PreparedRedis(steps=[reply(7), reply()])
        closing = AsyncMock(side_effect=fault)
        monkeypatch.setattr(client, "aclose", closing)
        monkeypatch.setattr(redis.asyncio.Redis, "from_url", Mock(return_value=client))
        gate = RedisGate("redis://localhost", name="n")
        gate.responded(await enter(gate))
        for _ in range(2):
            await gate.aclose()
        with pytest.raises(StateError, match="the gate is closed"):
            await enter(gate)
        assert closing.await_count == 1


async def test_a_permit_is_kept_after_a_third_of_a_lease_and_before_its_half_is_over() -> None:
    """With an exchange that comes anyway, or with one of its own; without permits the gate sleeps for a minute."""
    gate, state = gate_with(reply(7), reply(8), reply(9), reply())
    permits = [await enter(gate)]
    for seconds in (1.2, 0.2):
        await asyncio.sleep(seconds)
        permits.append(await enter(gate))
    await asyncio.sleep(2.5)
    assert told(state, "kept") == [(0.0, []), (1.2, []), (1.4, [7, 8]), (3.4, [7, 8, 9])]
    for permit in permits:
        gate.abandoned(permit)
    await gate.aclose()
    sleeping, silent = gate_with(reply(wait=500.0))
    waiting = enter(sleeping)
    await asyncio.sleep(130.0)
    assert [round(at - 3.9, 3) for (at,) in told(silent)] == [0.0, 60.0, 120.0]
    await end([waiting])
    await sleeping.aclose()


async def test_a_cooldown_of_a_permit_that_the_server_does_not_know_is_told() -> None:
    """It is from the time without the server; any other end of it is of no interest there."""
    gate, state = gate_with(errors.ConnectionError("planted"), reply())
    limited, lost = await enter(gate), await enter(gate)
    await asyncio.sleep(2.0)
    gate.abandoned(lost)
    gate.rate_limited(limited, wait=30.0)
    await asyncio.sleep(1.0)
    assert [reports for _, reports in told(state, "reports") if reports] == [[("cooldown", 0, 0.0, 30.0, 1.0)]]
    await gate.aclose()


async def test_without_the_server_a_long_cooldown_is_not_probed_at_once() -> None:
    """Each process would send a probe of its own: it does a minute after it has learned of the cooldown."""
    gate, _ = gate_with(reply(cooldown=600.0), errors.ConnectionError("planted"))
    permit = await enter(gate, max_wait=1e9)
    assert asyncio.get_running_loop().time() == pytest.approx(60.0, abs=0.01)
    gate.abandoned(permit)
    await gate.aclose()


class Subscription:
    """Stands in for a connection of redis-py for subscriptions, and notes what is asked of it."""

    def __init__(self, *messages: str | None) -> None:
        self.messages, self.asked = list(messages), list[object]()

    async def subscribe(self, channel: str) -> None:
        """Note it."""
        self.asked.append(channel)

    async def get_message(self, *, timeout: float) -> dict[str, str] | None:  # noqa: ASYNC109  # that of redis-py
        """Return the next message."""
        self.asked.append(timeout)
        kind = self.messages.pop(0)
        return None if kind is None else {"type": kind}

    async def ping(self) -> None:
        """Note it."""
        self.asked.append("ping")

    async def aclose(self) -> None:
        """Note it."""
        self.asked.append("close")


@pytest.mark.parametrize(
    ("messages", "calls", "asked", "said"),
    [
        (("subscribe", None, None), 1, [1.0, 1.0, "ping", 1.0, "ping"], "it is silent"),
        (("subscribe", None, "pong", "message", "subscribe"), 2, [1.0, 1.0, "ping", *[1.0] * 3], "it was interrupted"),
    ],
)
async def test_a_subscription_is_asked_for_a_sign_of_life(
    messages: tuple[str | None, ...], calls: int, asked: list[object], said: str
) -> None:
    """After a second of silence; after another one, or when the client has made it anew, it is made anew here."""
    subscription = Subscription(*messages)
    client = Mock(pubsub=lambda: subscription)
    state = RedisState(client, name="n", max_in_flight=1, rates=())
    called = state.called("p")
    for _ in range(calls):
        await anext(called)
    with pytest.raises(ServerUnreachableError, match=said):
        await anext(called)
    assert subscription.asked == ["itwin-gate:{n}:process:p", *asked, "close"]


def reports_of(state: PreparedRedis) -> list[tuple[Any, ...]]:
    """All ends that were reported."""
    return [report for each in state.exchanges for report in each.reports]


async def test_the_tasks_of_a_process_ask_as_one() -> None:
    """A hundred tasks that come one by one cost a few exchanges, and then one a second for all of them."""
    gate, state = gate_with(reply())
    tasks = []
    for _ in range(100):
        tasks.append(enter(gate))
        await asyncio.sleep(0.001)
    before = len(state.exchanges)
    assert before < 10
    await asyncio.sleep(5.0)
    assert 4 <= len(state.exchanges) - before <= 6
    assert state.exchanges[-1].wants == 100
    await end(tasks)
    await gate.aclose()


async def test_the_tasks_of_a_process_are_served_in_order() -> None:
    """Permits of the server go to the calls that began first, whenever they came to wait."""
    gate, _ = gate_with(reply(), reply(1, 2), reply())
    tasks = {ticket: enter(gate, ticket=ticket) for ticket in (2, 0, 3, 1)}
    await asyncio.sleep(1.5)
    assert [tasks[ticket].done() for ticket in range(4)] == [True, True, False, False]
    await end(tasks.values())
    for ticket in (0, 1):
        gate.abandoned(tasks[ticket].result())
    await gate.aclose()


async def test_calls_that_are_cancelled_in_an_exchange_cost_nobody_a_permit() -> None:
    """A new call asks, and what the server grants to one that no longer waits goes back at once."""
    gate, state = gate_with(reply(), reply(1, is_contended=True), reply())
    state.latency = 0.5
    for count in (10, 1):
        tasks = [enter(gate) for _ in range(count)]
        await asyncio.sleep(0.25)
        await end(tasks)
        await asyncio.sleep(5.0)
    assert told(state, "wants") == [(0.0, 10), (5.25, 1), (5.75, 0)]
    assert reports_of(state) == [("unused", 1, 9.0)]
    await gate.aclose()


def test_a_gate_that_is_idle_serves_another_event_loop() -> None:
    """The loop before need not have ended, once nothing is left to report."""
    gate, _ = gate_with(reply(1), reply(), reply(1), reply())
    first, second = (asyncio.Runner(loop_factory=VirtualTimeLoop) for _ in range(2))
    with first, second:
        first.run(enter_in(gate))
        first.run(asyncio.sleep(10.0))
        second.run(enter_in(gate))
        second.run(gate.aclose())


def test_what_ends_after_its_event_loop_is_forgotten() -> None:
    """Nothing is told to the server, and the next loop begins anew."""
    gate, state = gate_with(reply(7), reply(8), reply())
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as first:
        left = first.run(hold(gate))
    gate.responded(left)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as second:
        second.run(enter_in(gate))
        second.run(gate.aclose())
    assert reports_of(state) == [("responded", 8, 9.0)]


@pytest.mark.parametrize(
    ("rates", "times"),
    [
        ([RateLimit(8, 10.0), RateLimit(100, 100.0)], [0.0] * 2 + [10.4] * 2 + [20.8] * 2 + [31.2]),
        ([RateLimit(3, 10.0)], [0.0, 10.4, 20.8]),
    ],
    ids=["a quarter", "less than one"],
)
async def test_each_process_keeps_its_share_of_the_rates(rates: list[RateLimit], times: list[float]) -> None:
    """One of four processes sends a quarter of what each rate allows, and at least one request."""
    gate, _ = gate_with(errors.ConnectionError("planted"), rate=rates, workers=4)
    sent: list[float] = []
    for waiting in [enter(gate) for _ in times]:
        gate.responded(await waiting)
        sent.append(asyncio.get_running_loop().time())
    assert sent == pytest.approx(times)
    await gate.aclose()


async def test_a_permit_that_outlives_the_loss_is_kept() -> None:
    """The server is told at the rejoin that the process still holds it, and later its end; of local permits nothing."""
    gate, state = gate_with(reply(1, is_contended=True), errors.ConnectionError("planted"), reply())
    permit, local = await enter(gate), await enter(gate)
    await asyncio.sleep(2.0)
    for each in (permit, local):
        gate.responded(each)
    await gate.aclose()
    assert [(each.rejoins, each.kept) for each in state.exchanges[::2]][:2] == [(True, []), (True, [1])]
    assert reports_of(state) == [("responded", 1, 9.0)]


@pytest.mark.parametrize(
    ("failure", "reported"),
    [(errors.ConnectionError("planted"), [1]), (errors.AuthenticationError("WRONGPASS"), [1, 2])],
    ids=["lost", "rejects"],
)
async def test_what_ends_during_a_failure_is_not_kept(failure: Exception, reported: list[int]) -> None:
    """The process keeps neither permit when it rejoins; of a lost server it reports no end again."""
    gate, state = gate_with(reply(1, 2, is_contended=True), reply(is_contended=True))
    first, second = [await task for task in [enter(gate), enter(gate)]]
    state.failure, state.latency = failure, 0.5
    gate.responded(first)
    await asyncio.sleep(0.25)
    gate.responded(second)
    await asyncio.sleep(0.5)
    state.failure = None
    await end([enter(gate)])
    await asyncio.sleep(5.0)
    await gate.aclose()
    assert [number for _, number, *_ in reports_of(state)] == reported
    assert not any(each.kept for each in state.exchanges)


async def test_a_cooldown_outlives_a_reply_that_is_older() -> None:
    """A reply to what was asked before the 429 neither ends the cooldown nor grants a permit."""
    gate, state = gate_with(reply(1), reply(2), reply(cooldown=50.0))
    permit = await enter(gate)
    state.latency = 0.5
    waiting = enter(gate, max_wait=100.0)
    await asyncio.sleep(0.1)
    gate.rate_limited(permit, wait=60.0)
    await asyncio.sleep(0.41)
    assert gate.cooldown_left() == pytest.approx(59.59)
    assert not waiting.done()
    await end([waiting])
    await gate.aclose()


async def test_a_server_that_rejects_the_subscription_ends_the_waits() -> None:
    """A user who may not subscribe has to be told, because every wait would depend on it."""
    gate, state = gate_with(reply())
    state.listening = errors.NoPermissionError("x")
    with pytest.raises(UsageError, match="RedisGate: the given client does not permit the user"):
        await enter(gate)
    await gate.aclose()


async def test_a_gate_that_was_not_used_asks_nothing_when_it_closes() -> None:
    """It needs no server for that."""
    gate, state = gate_with(None)
    await gate.aclose()
    assert state.commands == []


async def test_an_operation_with_a_limit_of_its_own_asks_for_no_permit() -> None:
    """While it is stopped, the server is asked for the other calls alone; afterwards for all, without a poll."""
    gate, state = gate_with(reply(1, 2), reply(3, wait=60.0), reply(wait=60.0))
    limited, _ = [await task for task in [enter(gate, operation="a"), enter(gate, operation="b")]]
    gate.rate_limited(limited, wait=5.0, is_named=True)
    waiting = [enter(gate, operation=operation) for operation in "aab"]
    await asyncio.sleep(4.5)
    assert [task.done() for task in waiting] == [False, False, True]
    assert reports_of(state) == [("abandoned", 1, 9.0)]
    assert max(wants for _, wants in told(state, "wants")[1:]) == 1
    state.steps = [reply(4), reply(wait=60.0)]
    await asyncio.sleep(0.51)
    assert [task.done() for task in waiting] == [True, False, True]
    await end(waiting)
    await gate.aclose()


async def test_closing_tells_what_ended_while_an_exchange_was_in_flight() -> None:
    """And gives back what it brings: other processes wait for it."""
    gate, state = gate_with(reply(7), reply(8), reply())
    permit = await enter(gate)
    state.latency = 0.5
    waiting = enter(gate)
    await asyncio.sleep(0.1)
    gate.responded(permit)
    await asyncio.gather(gate.aclose(), waiting, return_exceptions=True)
    assert told(state, "reports") == [
        (0.0, []),
        (0.0, []),
        (0.5, [("responded", 7, 9.0), ("unused", 8, 9.0)]),
    ]
