"""What RedisGate tells its server, and when; and what errors of a server mean. It needs no server, and no real time."""

import asyncio
import logging
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import redis.asyncio
import redis.exceptions as errors
from itwin_platform_transport import GateChanged, RateLimit, RedisGate, StateError, UsageError
from itwin_platform_transport.gates.redis import RedisState, Reply, ServerUnreachableError
from itwin_platform_transport.gates.window import Permit

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, settle
from tests.support.redis_clients import PreparedRedis, reply
from tests.support.services import now


def gate_with(*steps: Reply | Exception | None, **options: Any) -> tuple[RedisGate, PreparedRedis]:
    """Return a gate whose server does these steps, and the server."""
    server = PreparedRedis(steps=list(steps))
    return RedisGate(server, name="n", random_number=lambda: 1.0, **options), server


def told(server: PreparedRedis, *names: str) -> list[tuple[Any, ...]]:
    """When each exchange came, with these of its values."""
    return [(each.at, *(getattr(each, name) for name in names)) for each in server.exchanges]


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


async def test_a_server_that_is_lost_is_tried_again_after_longer_and_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is given one second, then one, two, four, eight and ten, with a tenth of jitter; then all is told anew."""
    caplog.set_level(logging.INFO)
    events, lost = list[GateChanged](), errors.ConnectionError("planted")
    gate, state = gate_with(None, lost, on_event=events.append)
    permit = await enter(gate, max_wait=0.0)
    await asyncio.sleep(49.0)
    assert [at for (at,) in told(state)] == pytest.approx([0.0, 2.1, 4.3, 8.7, 17.5, 28.5, 39.5])
    ends_at = now() + 50.0
    gate.rate_limited(permit, wait=50.0)
    state.steps = [reply(cooldown=40.0)]
    await asyncio.sleep(1.0)
    at, rejoins, reports = told(state, "rejoins", "reports")[-1]
    assert (rejoins, reports) == (True, [("cooldown", 0, 0.0, pytest.approx(ends_at - at))])
    assert gate.cooldown_left() == pytest.approx(at + 40.0 - now())
    state.steps = [lost, reply(cooldown=40.0)]
    waiting = enter(gate)
    await asyncio.sleep(1.2)
    (first,), (second,) = told(state)[-2:]
    assert second - first == pytest.approx(1.1)
    assert [(event.name, event.is_shared, event.reason) for event in events[:2]] == [
        ("n", False, "no response within 1 s"),
        ("n", True, None),
    ]
    assert [(record.levelname, record.message.partition(": ")[0]) for record in caplog.records[:2]] == [
        ("WARNING", "gate 'n' continues without its server"),
        ("INFO", "gate 'n' is shared again"),
    ]
    await end([waiting])
    await gate.aclose()


async def test_each_process_keeps_its_share_of_the_rates() -> None:
    """One of four processes sends a quarter of what each rate allows, and at least one request."""
    for rate, times in ((RateLimit(8, 10.0), [0.0, 0.0, 10.4, 10.4, 20.8]), (RateLimit(3, 10.0), [0.0, 10.4])):
        began, sent = now(), list[float]()
        gate, _ = gate_with(errors.ConnectionError("planted"), rate=[rate, RateLimit(100, 100.0)], workers=4)
        for waiting in [enter(gate) for _ in times]:
            gate.responded(await waiting)
            sent.append(now() - began)
        assert sent == pytest.approx(times)
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


def test_a_gate_is_in_use_in_another_event_loop_until_that_is_closed() -> None:
    """Also when no call of it waits or is in flight; what was in flight in a loop that is closed counts no more."""
    gate, state = gate_with(reply(7, 8), None)

    async def call() -> Permit:
        first, second = await asyncio.gather(enter(gate), enter(gate))
        gate.responded(first)
        return second

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as loop, asyncio.Runner(loop_factory=VirtualTimeLoop) as other:
        left = loop.run(call())
        with pytest.raises(StateError, match="in use in another event loop"):
            other.run(enter_in(gate))
        loop.close()
        gate.abandoned(left)
        state.steps, state.exchanges = [reply(9), reply()] * 2, []
        other.run(enter_in(gate))
        assert told(state, "rejoins", "wants", "listens", "kept", "reports")[0] == (0.0, True, 1, False, [], [])
        other.run(asyncio.sleep(1.0))
    assert gate.in_flight == 0
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as third:  # an idle gate is free, also while a loop still runs
        third.run(enter_in(gate))
        third.run(gate.aclose())


async def enter_in(gate: RedisGate) -> None:
    """Make a call in a loop."""
    gate.responded(await enter(gate))


NOT_PERMITTED = "denies the user a needed permission ({}): the script, its keys, and publish and subscribe"
REJECTIONS: dict[str, tuple[Exception, str]] = {
    "a password": (errors.AuthenticationError("x"), "rejects the user name or the password in redis (Authenticat"),
    "a command": (errors.NoPermissionError("x"), NOT_PERMITTED.format("NoPermissionError")),
    "before Redis 7": (
        errors.ResponseError("The user executing the script can't run this command"),
        NOT_PERMITTED.format("ResponseError"),
    ),
    "in a script": (errors.ResponseError("ERR ACL failure in script: x"), NOT_PERMITTED.format("ERR")),
    "no Redis": (errors.InvalidResponse("x"), "does not speak as Redis does: use rediss:// if it expects TLS"),
    "a database": (errors.ResponseError("ERR DB index is out of range"), "has no such database (ERR)"),
}
OUTAGES: dict[str, tuple[Exception, str]] = {
    "no connection": (errors.ConnectionError("Error 111 connecting"), "is unreachable (ConnectionError)"),
    "no response": (errors.TimeoutError("x"), "is unreachable (TimeoutError)"),
    "it loads": (errors.BusyLoadingError("LOADING x"), "is unreachable (LOADING)"),
    "it is full": (errors.ResponseError("OOM command not allowed"), "responds with an error (OOM)"),
    "Redis 6.2": (errors.ResponseError("Error running script: -READONLY x"), "responds with an error (READONLY)"),
}


@pytest.fixture
def from_url(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What makes the client of a URL."""
    made = Mock()
    monkeypatch.setattr(redis.asyncio.Redis, "from_url", made)
    return made


@pytest.mark.parametrize("case", REJECTIONS | OUTAGES)
async def test_what_an_error_of_the_server_means(from_url: Mock, case: str) -> None:
    """A wrong configuration, or a server that cannot be used for now; where it is, without user and password.

    The error may be the cause of another one of redis-py.
    """
    error, said = (REJECTIONS | OUTAGES)[case]
    outer = errors.ConnectionError("of redis-py")
    outer.__cause__ = error
    for failure in (error, outer) if case != "no Redis" else (error,):
        from_url.return_value, events = PreparedRedis(steps=[failure]), list[GateChanged]()
        gate = RedisGate("rediss://user:planted-secret@127.0.0.1:1/2", name="n", on_event=events.append)
        if case in REJECTIONS:
            with pytest.raises(UsageError) as raised:
                await enter(gate)
            text = str(raised.value).removeprefix("RedisGate: ")
        else:
            gate.abandoned(await enter(gate))
            text = str(events[0].reason)
        assert text.startswith(f"rediss://127.0.0.1:1/2 {said}")
        await gate.aclose()


async def test_closing_closes_the_connections_of_a_url_once(from_url: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    """What closing raises is no error of the program."""
    from_url.return_value = client = PreparedRedis(steps=[reply(7), reply()])
    closing = AsyncMock(side_effect=ConnectionResetError("the peer was quicker"))
    monkeypatch.setattr(client, "aclose", closing)
    gate = RedisGate("redis://localhost", name="n")
    gate.responded(await enter(gate))
    for _ in range(2):
        await gate.aclose()
    with pytest.raises(StateError, match="the gate is closed"):
        await enter(gate)
    assert closing.await_count == 1


async def test_a_permit_is_kept_after_a_third_of_a_lease_and_before_its_half_is_over() -> None:
    """With an exchange that comes anyway, or with one of its own."""
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
    assert now() == pytest.approx(60.0, abs=0.01)
    gate.abandoned(permit)
    await gate.aclose()


async def test_a_subscription_that_is_silent_is_made_anew() -> None:
    """After a second of silence it is pinged; without a response in another second, it is closed."""
    messages = [{"type": "subscribe"}, None, {"type": "pong"}, None, None]
    subscription = AsyncMock(get_message=AsyncMock(side_effect=messages))
    called = RedisState(Mock(pubsub=lambda: subscription), name="n", max_in_flight=1, rates=()).wake_ups("p")
    await anext(called)
    with pytest.raises(ServerUnreachableError, match="it is silent"):
        await anext(called)
    subscription.subscribe.assert_awaited_once_with("itwin-gate:{n}:process:p")
    assert (subscription.ping.await_count, subscription.aclose.await_count) == (3, 1)


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


async def test_a_process_behind_many_others_asks_every_ten_seconds() -> None:
    """So a long queue of processes does not keep the server busy."""
    gate, state = gate_with(reply(rank=1_000))
    waiting = enter(gate)
    await asyncio.sleep(100.0)
    assert 9 <= len(state.exchanges) <= 11
    await end([waiting])
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
    with pytest.raises(UsageError, match="RedisGate: the given client denies the user a needed permission"):
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
