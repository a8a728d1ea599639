"""What RedisGate tells its server, and when; and what errors of a server mean. It needs no server, and no real time."""

import asyncio
import logging
import ssl
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import redis.asyncio
import redis.exceptions as errors
from itwin_platform_transport import GateChanged, RedisGate, StateError, UsageError
from itwin_platform_transport.gates.redis import RedisState, Reply, ServerRejectsError, ServerUnreachableError
from itwin_platform_transport.gates.window import Permit

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, settle
from tests.support.redis_clients import PreparedRedis, reply


def gate_with(*steps: Reply | Exception | None, **options: Any) -> tuple[RedisGate, PreparedRedis]:
    """Return a gate whose server does these steps, and the server."""
    server = PreparedRedis(steps=list(steps))
    return RedisGate(server, name="n", random_number=lambda: 1.0, **options), server


def told(server: PreparedRedis, *names: str) -> list[tuple[Any, ...]]:
    """When each exchange came, with these of its values."""
    return server.told(*names)


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


SECRET = "redis://user:planted-secret@127.0.0.1:1/2"
WHERE = r"redis://127.0.0.1:1/2"
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


async def failure_of(
    monkeypatch: pytest.MonkeyPatch, url: str | None, error: Exception
) -> tuple[Exception, list[tuple[str, int]]]:
    """Return what an exchange raises when a client of redis-py raises an error, and the connections that it tries.

    Instead of a URL, None stands for a given client.
    """
    tried: list[tuple[str, int]] = []

    async def open_connection(host: str, port: int, *, ssl: object) -> None:
        tried.append((host, port))
        raise OSError

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    client = Mock(pubsub=lambda: Mock(subscribe=AsyncMock(side_effect=error), aclose=AsyncMock()), aclose=AsyncMock())
    monkeypatch.setattr(redis.asyncio.Redis, "from_url", Mock(return_value=client))
    state = RedisState(url or client, name="n", max_in_flight=1, rates=())
    with pytest.raises((ServerRejectsError, ServerUnreachableError)) as raised:
        await state.exchange(process="p", rejoins=False, wants=0, listens=False, kept=[], reports=[])
    return raised.value, tried


@pytest.mark.parametrize("case", REJECTIONS | FAILURES)
@pytest.mark.parametrize("is_cause", [False, True], ids=["alone", "as the cause"])
async def test_what_an_error_of_the_server_means(monkeypatch: pytest.MonkeyPatch, case: str, is_cause: bool) -> None:
    """A wrong configuration, or a server that cannot be used for now; where it is, without user and password."""
    error, said = (REJECTIONS | FAILURES)[case]
    if is_cause and case != "no Redis":
        outer = errors.ConnectionError("of redis-py")
        outer.__cause__ = error
        error = outer
    found, _ = await failure_of(monkeypatch, SECRET, error)
    assert type(found) is (ServerRejectsError if case in REJECTIONS else ServerUnreachableError)
    assert str(found) == f"{WHERE} {said}"


async def test_a_given_client_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it leads is not known."""
    found, _ = await failure_of(monkeypatch, None, errors.TimeoutError("x"))
    assert str(found) == "the given client is unreachable (TimeoutError)"


@pytest.mark.parametrize(("reason", "said"), [("CERTIFICATE_VERIFY_FAILED", "certificate_verify_failed"), (None, "")])
async def test_a_server_that_cannot_be_trusted_is_rejected(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, said: str
) -> None:
    """With the reason that OpenSSL names."""
    error, cause = errors.ConnectionError("x"), ssl.SSLError(1, "y")
    error.__cause__, cause.reason = cause, reason  # type: ignore[assignment]  # None where OpenSSL has no name
    found, _ = await failure_of(monkeypatch, SECRET, error)
    assert str(found) == f"{WHERE} cannot be trusted, or does not speak TLS ({said})"


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("redis://", ("localhost", 6379)),
        ("redis://host:7000/1", ("host", 7000)),
        ("rediss://host", None),
        ("unix:///socket", None),
        (None, None),
    ],
    ids=str,
)
async def test_a_server_is_asked_whether_it_expects_tls(
    monkeypatch: pytest.MonkeyPatch, url: str | None, asked: tuple[str, int] | None
) -> None:
    """Where the URL leads, or where it leads by default; a server that is used with TLS, or at a socket, is not."""
    _, tried = await failure_of(monkeypatch, url, errors.ConnectionError("x"))
    assert tried == ([] if asked is None else [asked])


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


def test_the_client_of_a_url_neither_retries_nor_limits_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate has a time limit and a fallback of its own, which both would only delay."""
    made = Mock()
    monkeypatch.setattr(redis.asyncio.Redis, "from_url", made)
    RedisState("redis://host", name="n", max_in_flight=1, rates=())
    made.assert_called_once_with("redis://host", retry=None, socket_timeout=None)


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


async def test_a_permit_alone_is_kept_after_half_a_lease() -> None:
    """Closing wakes the gate, which would sleep until then; the second time it does nothing."""
    gate, state = gate_with(reply(7), reply())
    permit = await enter(gate)
    await asyncio.sleep(2.5)
    assert told(state, "kept") == [(0.0, []), (2.0, [7])]
    for _ in range(2):
        await gate.aclose()
        assert told(state, "kept")[2:] == [(2.5, []), (2.5, [])]
    gate.abandoned(permit)


async def test_more_is_asked_for_when_more_than_twice_as_many_wait() -> None:
    """Until then those who came meanwhile share what the server grants."""
    gate, state = gate_with(reply())
    waiting = [enter(gate)]
    for seconds in (0.5, 0.1):
        await asyncio.sleep(seconds)
        waiting.append(enter(gate))
    await asyncio.sleep(0.1)
    assert told(state, "wants") == [(0.0, 1), (0.6, 3)]
    await end(waiting)
    await gate.aclose()


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


async def test_what_a_server_is_told_and_says() -> None:
    """The names of keys and channels are those of all versions; a user who may not do all of it is found at once."""
    subscription, commands = Subscription("subscribe"), list[tuple[Any, ...]]()

    async def execute(*command: Any) -> bytes:
        commands.append(command)
        if command[0] == "EVALSHA":
            raise errors.NoScriptError
        return b"0 3 2.5 1.5 1 1 9.0 7 8"

    client = Mock(pubsub=lambda: subscription, execute_command=execute)
    state = RedisState(client, name="n", max_in_flight=1, rates=())
    said = await state.exchange(process="p", rejoins=False, wants=0, listens=False, kept=[], reports=[])
    permits = [Permit(number=number, at=9.0) for number in (7, 8)]
    assert said == Reply(
        wait=0.0, rank=3, cooldown=2.5, rejecting_for=1.5, is_contended=True, differs=True, permits=permits
    )
    assert subscription.asked == ["itwin-gate:{n}:process:p", 1.0, "close"]
    publish, cached, whole = commands
    assert publish[:2] == ("PUBLISH", "itwin-gate:{n}:process:p")
    assert (cached[0], whole[0]) == ("EVALSHA", "EVAL")
    assert cached[2:] == whole[2:]
    keys = [f"itwin-gate:{{n}}:{part}" for part in ("state", "flight", "queue", "log")]
    assert cached[2:7] == ("4", *keys)
    await state.aclose()
