"""The exchanges of RedisGate with its server: their times and values, and the meaning of errors; without a server."""

import asyncio
import logging
from typing import Any
from unittest.mock import AsyncMock, Mock

import httpx
import pytest
import redis.asyncio
import redis.exceptions as errors
from itwin_platform_transport import BackoffTransport, GateChanged, RateLimit, RedisGate, StateError, UsageError
from itwin_platform_transport.gates.redis import RedisState, Reply, ServerUnreachableError
from itwin_platform_transport.gates.window import Permit

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, settle
from tests.support.redis_clients import PreparedRedis, reply
from tests.support.services import ScriptedTransport, now


def gate_with(*steps: Reply | Exception | None, **options: Any) -> tuple[RedisGate, PreparedRedis]:
    """Return a gate, and its server with prepared steps."""
    server = PreparedRedis(steps=list(steps))
    return RedisGate(server, name="n", random_number=lambda: 1.0, **options), server


def exchanged(server: PreparedRedis, *names: str) -> list[tuple[Any, ...]]:
    """Return the time of each exchange, and some of its values."""
    return [(each.at, *(getattr(each, name) for name in names)) for each in server.exchanges]


@pytest.mark.parametrize(("ending", "cooldown"), [("abandoned", ()), ("unused", ()), ("rate_limited", (3.0, 1.0))])
async def test_an_urgent_end_of_a_permit_is_reported_at_once(ending: str, cooldown: tuple[float, ...]) -> None:
    """A permit that another process or call waits for, and a 429 with its jitter, are reported without a delay."""
    gate, state = gate_with(reply(7, is_contended=ending == "abandoned"), reply(is_contended=ending == "abandoned"))
    permit = await enter(gate)
    await asyncio.sleep(0.5)
    waiting = [enter(gate)] if ending == "unused" else []
    await settle()
    getattr(gate, ending)(permit, **({"wait": 3.0} if cooldown else {}))
    await settle()
    assert exchanged(state, "reports")[-1] == (0.5, [(ending, 7, 9.0, *cooldown)])
    await end(waiting)
    await gate.aclose()


async def test_a_lost_server_is_tried_again_after_growing_pauses(caplog: pytest.LogCaptureFixture) -> None:
    """The pauses are 1, 2, 4, 8 and 10 s, with a tenth of jitter; then the gate reports its cooldown."""
    caplog.set_level(logging.INFO)
    events, lost = list[GateChanged](), errors.ConnectionError("planted")
    gate, state = gate_with(None, lost, on_event=events.append)
    permit = await enter(gate, max_wait=0.0)
    await asyncio.sleep(49.0)
    assert [at for (at,) in exchanged(state)] == pytest.approx([0.0, 2.1, 4.3, 8.7, 17.5, 28.5, 39.5])
    ends_at = now() + 50.0
    gate.rate_limited(permit, wait=50.0)
    state.steps = [reply(cooldown=40.0)]
    await asyncio.sleep(1.0)
    at, rejoins, reports = exchanged(state, "rejoins", "reports")[-1]
    assert (rejoins, reports) == (True, [("cooldown", 0, 0.0, pytest.approx(ends_at - at))])
    assert gate.cooldown_left() == pytest.approx(at + 40.0 - now())
    state.steps = [lost, reply(cooldown=40.0)]
    waiting = enter(gate)
    await asyncio.sleep(1.2)
    (first,), (second,) = exchanged(state)[-2:]
    assert second - first == pytest.approx(1.1)
    late = "no response within 1 s"
    assert [(each.name, each.is_shared, each.reason) for each in events[:2]] == [("n", False, late), ("n", True, None)]
    assert [(record.levelname, record.message) for record in caplog.records[:2]] == [
        ("WARNING", f"gate 'n' continues without its server: {late}"),
        ("INFO", "gate 'n' is shared again"),
    ]
    await end([waiting])
    await gate.aclose()


async def test_each_process_keeps_its_share_of_the_rates() -> None:
    """One of four processes sends a quarter of the requests of each rate, and at least one."""
    for rate, times in ((RateLimit(8, 10.0), [0.0, 0.0, 10.4, 10.4, 20.8]), (RateLimit(3, 100.0), [0.0, 101.0])):
        began, sent = now(), list[float]()
        gate, _ = gate_with(errors.ConnectionError("planted"), rate=[rate, RateLimit(100, 100.0)], workers=4)
        for waiting in [enter(gate) for _ in times]:
            gate.responded(await waiting)
            sent.append(now() - began)
        assert sent == pytest.approx(times)
        await gate.aclose()


@pytest.mark.parametrize(("options", "at_once"), [({}, 20), ({"workers": 3}, 7), ({"workers": 40}, 1)], ids=str)
async def test_a_process_has_its_share_while_the_server_is_lost(options: dict[str, int], at_once: int) -> None:
    """Its share of 20 permits is rounded up."""
    gate, _ = gate_with(errors.ConnectionError("planted"), **options)
    waiting = [enter(gate) for _ in range(30)]
    await settle()
    assert repr(gate) == f"RedisGate(max_in_flight=20, in_flight={at_once}, waiting={30 - at_once})"
    await gate.aclose()
    await end(waiting)


def test_a_gate_belongs_to_an_event_loop_until_that_is_closed() -> None:
    """Also while no call waits or is in flight; attempts of a closed loop do not count any more."""
    gate, state = gate_with(reply(7, 8, 9), None)

    async def call() -> list[Permit]:
        first, *others = await asyncio.gather(enter(gate), enter(gate), enter(gate))
        gate.responded(first)
        return others

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as loop, asyncio.Runner(loop_factory=VirtualTimeLoop) as other:
        left, late = loop.run(call())
        with pytest.raises(StateError, match="in use in another event loop"):
            other.run(enter_in(gate))
        loop.close()
        gate.abandoned(late)
        state.steps, state.exchanges = [reply(9), reply()] * 2, []
        other.run(enter_in(gate))
        assert exchanged(state, "rejoins", "wants", "listens", "kept", "reports")[0] == (0.0, True, 1, False, [], [])
        other.run(asyncio.sleep(1.0))
        assert gate.in_flight == 0
        gate.abandoned(left)
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as third:  # an idle gate can move, also while its loop exists
            third.run(enter_in(gate))
            third.run(gate.aclose())


async def enter_in(gate: RedisGate) -> None:
    """Make a call in the running loop."""
    gate.responded(await enter(gate))


NOT_PERMITTED = "denies the user a needed permission ({}): the script, its keys, and publish and subscribe"
#: More are in `test_redis_gate.py`.
REJECTIONS: dict[str, tuple[Exception, str]] = {
    "a command": (errors.NoPermissionError("x"), NOT_PERMITTED.format("NoPermissionError")),
    "before 7.0": (errors.ResponseError("The user executing the script can't"), NOT_PERMITTED.format("ResponseError")),
    "in a script": (errors.ResponseError("ERR ACL failure in script: x"), NOT_PERMITTED.format("ERR")),
}
OUTAGES: dict[str, tuple[Exception, str]] = {
    "no connection": (errors.ConnectionError("Error 111 connecting"), "is unreachable (ConnectionError)"),
    "it loads": (errors.BusyLoadingError("LOADING x"), "is unreachable (LOADING)"),
    "Redis 6.2": (errors.ResponseError("Error running script: -READONLY x"), "responds with an error (READONLY)"),
}


@pytest.fixture
def from_url(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """A mock of the function that makes a client from a URL."""
    from_url = Mock()
    monkeypatch.setattr(redis.asyncio.Redis, "from_url", from_url)
    return from_url


@pytest.mark.parametrize("case", REJECTIONS | OUTAGES)
async def test_an_error_of_the_server_is_a_wrong_configuration_or_an_outage(from_url: Mock, case: str) -> None:
    """The text has the address of the server, without user and password. After a rejection, the process rejoins.

    redis-py may raise another error that has this one as its cause.
    """
    error, message = (REJECTIONS | OUTAGES)[case]
    outer = errors.ConnectionError("of redis-py")
    outer.__cause__ = error
    for failure, server, named in ((error, "127.0.0.1:1", "127.0.0.1:1"), (outer, "[::1]", "[::1]:6379")):
        from_url.return_value, events = PreparedRedis(steps=[reply(7), failure, reply(8)]), list[GateChanged]()
        gate = RedisGate(f"rediss://user:planted-secret@{server}/2", name="n", on_event=events.append)
        await enter(gate)
        if case in REJECTIONS:
            with pytest.raises(UsageError) as raised:
                await enter(gate)
            text = str(raised.value).removeprefix("RedisGate: ")
            await enter(gate)
            assert exchanged(from_url.return_value, "rejoins", "kept")[-1][1:] == (True, [7])
        else:
            gate.abandoned(await enter(gate))
            text = str(events[0].reason)
        assert text.startswith(f"rediss://{named}/2 {message}")
        await gate.aclose()


@pytest.mark.parametrize(("is_given", "closed"), [(False, 1), (True, 0)], ids=["URL", "client"])
async def test_closing_closes_the_connections_of_a_url_once(
    from_url: Mock, monkeypatch: pytest.MonkeyPatch, is_given: bool, closed: int
) -> None:
    """A client of the caller stays open, and an exception of the closing is not raised. An unused gate asks nothing."""
    from_url.return_value = client = PreparedRedis(steps=[reply(7), reply()])
    closing = AsyncMock(side_effect=ConnectionResetError("the peer was quicker"))
    monkeypatch.setattr(client, "aclose", closing)
    await RedisGate(client, name="n").aclose()
    assert client.commands == []
    gate = RedisGate(client if is_given else "redis://localhost", name="n")
    gate.responded(await enter(gate))
    for _ in range(2):
        await gate.aclose()
    with pytest.raises(StateError, match="the gate is closed"):
        await enter(gate)
    assert closing.await_count == closed


async def test_the_server_gets_no_token_and_no_query() -> None:
    """No command holds the token, the address or the query of a call."""
    gate, state = gate_with(reply(7), reply(), reply(8), reply())
    transport = BackoffTransport(ScriptedTransport(429, 200), gate=gate, token="planted-token")
    async with httpx.AsyncClient(transport=transport) as client:
        await client.get("https://planted.example/planted?search=planted")
    await gate.aclose()
    assert [kind for kind, *_ in reports_of(state)] == ["rate_limited", "responded"]
    assert "planted" not in repr(state.commands)


async def test_a_lease_is_renewed_between_its_third_and_its_half() -> None:
    """The next exchange renews it after a third; without another exchange, one for it comes before the half."""
    gate, state = gate_with(reply(7), reply(8), reply(9), reply())
    permits = [await enter(gate)]
    for seconds in (1.2, 0.2):
        await asyncio.sleep(seconds)
        permits.append(await enter(gate))
    await asyncio.sleep(2.5)
    assert exchanged(state, "kept") == [(0.0, []), (1.2, []), (1.4, [7, 8]), (3.4, [7, 8, 9])]
    for permit in permits:
        gate.abandoned(permit)
    await gate.aclose()


async def test_without_the_server_a_long_cooldown_is_probed_after_a_minute() -> None:
    """The minute starts when the process learns of the cooldown: without it, each process would probe at once."""
    gate, _ = gate_with(reply(cooldown=600.0), reply(cooldown=599.0), errors.ConnectionError("x"))
    permit = await enter(gate, max_wait=1e9)
    assert now() == pytest.approx(60.0, abs=0.01)
    gate.abandoned(permit)
    await gate.aclose()


async def test_a_silent_subscription_is_renewed() -> None:
    """It is pinged after a second of silence, and closed without a response in another second."""
    messages = [{"type": "subscribe"}, None, {"type": "pong"}, None, None]
    subscription = AsyncMock(get_message=AsyncMock(side_effect=messages))
    called = RedisState(Mock(pubsub=lambda: subscription), name="n", max_in_flight=1, rates=()).wake_ups("p")
    await anext(called)
    assert not subscription.ping.await_count
    with pytest.raises(ServerUnreachableError, match="no response to a ping"):
        await anext(called)
    subscription.subscribe.assert_awaited_once_with("itwin-gate:{n}:process:p")
    subscription.get_message.assert_awaited_with(timeout=1.0)
    assert (subscription.ping.await_count, subscription.aclose.await_count) == (3, 1)


def reports_of(state: PreparedRedis) -> list[tuple[Any, ...]]:
    """Return all reported ends of permits."""
    return [report for each in state.exchanges for report in each.reports]


async def test_a_call_costs_one_command() -> None:
    """The end of an attempt is reported with the next request, or soon if no call follows."""
    gate, state = gate_with(*(reply(number) for number in range(50)), reply())
    for _ in range(50):
        gate.responded(await enter(gate))
    assert len(state.exchanges) == 50
    await asyncio.sleep(0.02)
    assert (len(state.exchanges), len(reports_of(state))) == (51, 50)


async def test_the_tasks_of_a_process_share_exchanges() -> None:
    """A hundred tasks that start to wait one by one cost a few exchanges, and then one a second for all of them."""
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


@pytest.mark.parametrize(
    ("rank", "wait", "interval"), [(0, None, 1.0), (10, None, 1.52), (1_000, None, 11.0), (0, 1e6, 60.0)]
)
async def test_a_process_behind_many_others_polls_less_often(rank: int, wait: float | None, interval: float) -> None:
    """A long queue of processes does not keep the server busy. Each asks once a minute: it may lose its state."""
    gate, state = gate_with(reply(rank=rank, wait=wait))
    waiting = enter(gate)
    await asyncio.sleep(130.0)
    assert [at for (at,) in exchanged(state)][:3] == pytest.approx([0.0, interval, 2 * interval])
    await end([waiting])
    await gate.aclose()


async def test_the_tasks_of_a_process_are_served_in_order() -> None:
    """Permits of the server go to the calls that began first, in whatever order they queued."""
    gate, _ = gate_with(reply(), reply(1, 2), reply())
    tasks = {ticket: enter(gate, ticket=ticket) for ticket in (2, 0, 3, 1)}
    await asyncio.sleep(1.5)
    assert [tasks[ticket].done() for ticket in range(4)] == [True, True, False, False]
    await end(tasks.values())
    for ticket in (0, 1):
        gate.abandoned(tasks[ticket].result())
    await gate.aclose()


async def test_calls_that_are_cancelled_in_an_exchange_keep_no_permit() -> None:
    """A permit that the server grants to a cancelled call goes back at once, and a new call asks for another."""
    gate, state = gate_with(reply(), reply(1, is_contended=True), reply())
    state.latency = 0.5
    for count in (10, 1):
        tasks = [enter(gate) for _ in range(count)]
        await asyncio.sleep(0.25)
        await end(tasks)
        await asyncio.sleep(5.0)
    assert exchanged(state, "wants") == [(0.0, 10), (5.25, 1), (5.75, 0)]
    assert reports_of(state) == [("unused", 1, 9.0)]
    await gate.aclose()


async def test_a_permit_from_before_the_loss_of_the_server_is_kept() -> None:
    """At the rejoin the process reports that it holds the permit, and later its end; of a local permit, only a 429."""
    gate, state = gate_with(reply(1, is_contended=True), errors.ConnectionError("planted"), reply())
    permit, local, limited = [await enter(gate) for _ in range(3)]
    await asyncio.sleep(2.0)
    for each in (permit, local):
        gate.responded(each)
    gate.rate_limited(limited, wait=30.0)
    await gate.aclose()
    assert [(each.rejoins, each.kept) for each in state.exchanges[::2]][:2] == [(True, []), (True, [1])]
    assert reports_of(state) == [("responded", 1, 9.0), ("cooldown", 0, 0.0, 30.0, 1.0)]


async def test_a_cooldown_outlives_a_reply_that_is_older() -> None:
    """A reply to a request from before the 429 neither ends the cooldown nor grants a permit."""
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
    """A missing permission to subscribe is a UsageError, because every wait needs a wake-up."""
    gate, state = gate_with(reply())
    state.listening = errors.NoPermissionError("x")
    with pytest.raises(UsageError, match="RedisGate: the given client denies the user a needed permission"):
        await enter(gate)
    await gate.aclose()


async def test_a_limited_operation_asks_for_no_permit() -> None:
    """While an operation is stopped, the gate asks only for the other calls, and not at all without others."""
    gate, state = gate_with(reply(1, 2), reply(3, wait=60.0), reply(wait=0.0))
    limited, _ = [await task for task in [enter(gate, operation="a"), enter(gate, operation="b")]]
    gate.rate_limited(limited, wait=5.0, is_named=True)
    waiting = [enter(gate, operation=operation) for operation in "aab"]
    await asyncio.sleep(4.5)
    assert [task.done() for task in waiting] == [False, False, True]
    assert reports_of(state) == [("abandoned", 1, 9.0)]
    assert [wants for _, wants in exchanged(state, "wants")[1:]] == [1, 0, 0]
    state.steps = [reply(4), reply(wait=60.0)]
    await asyncio.sleep(0.51)
    assert [task.done() for task in waiting] == [True, False, True]
    await end(waiting)
    await gate.aclose()


async def test_closing_reports_ends_from_during_an_exchange() -> None:
    """Closing also gives back the permits of that exchange, which other processes may wait for."""
    gate, state = gate_with(reply(7), reply(8), reply())
    permit = await enter(gate)
    state.latency = 0.5
    waiting = enter(gate)
    await asyncio.sleep(0.1)
    gate.responded(permit)
    await asyncio.gather(gate.aclose(), waiting, return_exceptions=True)
    assert exchanged(state, "reports") == [(0.0, []), (0.0, []), (0.5, [("responded", 7, 9.0), ("unused", 8, 9.0)])]
