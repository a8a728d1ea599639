"""What a process asks the server of a shared gate, and what it does while the server cannot be reached."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import redis.exceptions as errors
from itwin_platform_transport import RateLimit, RedisGate, StateError, UsageError
from itwin_platform_transport.gates.redis import LEASE

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, hold
from tests.support.redis_clients import PreparedRedis, reply

NOTHING = reply(is_contended=True)
GRANTED = reply(1, is_contended=True)


class Server(PreparedRedis):
    """A server with prepared replies, and what it was asked and told."""

    @property
    def asked(self) -> list[float]:
        """When it was asked."""
        return [each.at for each in self.exchanges]

    @property
    def wanted(self) -> list[int]:
        """How many permits the process wanted each time."""
        return [each.wants for each in self.exchanges]

    @property
    def kept(self) -> list[list[int]]:
        """Which permits it kept each time."""
        return [each.kept for each in self.exchanges]

    @property
    def rejoins(self) -> list[bool]:
        """Whether it had lost the server each time."""
        return [each.rejoins for each in self.exchanges]

    @property
    def reports(self) -> list[tuple[Any, ...]]:
        """All ends that it reported."""
        return [report for each in self.exchanges for report in each.reports]


LOST = errors.ConnectionError("no route")


@pytest.fixture
def state() -> Server:
    """The server of the gate."""
    return Server(steps=[NOTHING])


def gate_of(state: Server, **settings: Any) -> RedisGate:
    """Return the gate of one process."""
    return RedisGate(state, name="test", max_in_flight=40, **settings)


@pytest.fixture
async def gate(state: Server) -> AsyncIterator[RedisGate]:
    """The gate of one process, which is closed in the end."""
    async with gate_of(state) as gate:
        yield gate


async def test_the_tasks_of_a_process_ask_as_one(gate: RedisGate, state: Server) -> None:
    """A hundred tasks that come one by one cost a few exchanges, and then one a second for all of them."""
    tasks = []
    for _ in range(100):
        tasks.append(enter(gate))
        await asyncio.sleep(0.001)
    assert state.wanted[-1] > 50
    before = len(state.asked)
    assert before < 10
    await asyncio.sleep(5.0)
    assert 4 <= len(state.asked) - before <= 6
    assert state.wanted[-1] == 100
    await end(tasks)


@pytest.mark.parametrize(
    ("waits", "rank", "asked"),
    [((0.7, 3.0), 0, [0.0, 0.7, 3.7]), ((None, None), 0, [0.0, 1.0, 2.0]), ((None, 3.0), 10, [0.0, 1.52, 4.54])],
    ids=["who is told when", "the first who waits", "the tenth who waits"],
)
async def test_a_process_sleeps_as_long_as_the_server_says(
    gate: RedisGate, state: Server, waits: tuple[float | None, ...], rank: int, asked: list[float]
) -> None:
    """The next exchange comes after the wait of the last one, by rank and jitter not much later, or after a second."""
    state.steps = [*(replace(NOTHING, wait=wait, rank=rank) for wait in waits), NOTHING]
    waiting = enter(gate)
    await asyncio.sleep(5.0)
    assert state.asked[:3] == pytest.approx(asked, abs=0.005)
    assert all(late >= early for late, early in zip(state.asked, asked, strict=False))
    await end([waiting])


async def test_a_held_permit_is_kept(gate: RedisGate, state: Server) -> None:
    """While a request is in flight, the server is told so twice in each lease."""
    state.steps = [GRANTED, replace(NOTHING, is_contended=False)]
    permit = await enter(gate)
    await asyncio.sleep(2 * LEASE + 1.0)
    assert (state.kept[0], [1] * 4) == ([], [number for kept in state.kept[1:] for number in kept])
    assert state.asked == pytest.approx([0.0, 2.0, 4.0, 6.0, 8.0], abs=0.01)
    gate.abandoned(permit)


async def test_the_tasks_of_a_process_are_served_in_order(gate: RedisGate, state: Server) -> None:
    """Permits of the server go to the calls that began first, whenever they came to wait."""
    state.steps = [NOTHING, replace(NOTHING, permits=reply(1, 2).permits), NOTHING]
    tasks = {ticket: enter(gate, ticket=ticket) for ticket in (2, 0, 3, 1)}
    await asyncio.sleep(1.5)
    assert [tasks[ticket].done() for ticket in range(4)] == [True, True, False, False]
    for ticket in (0, 1):
        gate.abandoned(tasks[ticket].result())
    await end(tasks.values())


async def test_a_call_asks_after_others_that_were_cancelled_in_an_exchange(gate: RedisGate, state: Server) -> None:
    """What the server was asked for by calls that no longer wait does not keep a new call from asking."""
    state.latency = 0.5
    for count in (10, 1):
        tasks = [enter(gate) for _ in range(count)]
        await asyncio.sleep(0.25)
        await end(tasks)
        await asyncio.sleep(5.0)
    assert state.wanted == [10, 1]


async def test_a_permit_that_nobody_waits_for_is_given_back_at_once(gate: RedisGate, state: Server) -> None:
    """It is another process's turn."""
    state.latency = 0.5
    state.steps = [GRANTED, NOTHING]
    waiting = enter(gate)
    await asyncio.sleep(0.25)
    await end([waiting])
    await asyncio.sleep(1.0)
    assert state.reports == [("unused", 1, 9.0)]
    assert state.asked == pytest.approx([0.0, 0.5], abs=0.02)


async def test_a_permit_that_is_not_used_is_given_back(gate: RedisGate, state: Server) -> None:
    """The server counts nothing for it."""
    state.steps = [GRANTED, NOTHING]
    gate.unused(await enter(gate))
    await asyncio.sleep(1.0)
    assert state.reports == [("unused", 1, 9.0)]


async def test_a_cooldown_of_the_server_holds_without_it(gate: RedisGate, state: Server) -> None:
    """A process that learned of a cooldown from the server starts no request in it when the server is lost."""
    state.steps = [replace(NOTHING, cooldown=30.0)]
    waiting = enter(gate)
    await asyncio.sleep(0.5)
    state.failure = LOST
    gate.abandoned(await waiting)
    assert asyncio.get_running_loop().time() == pytest.approx(30.0, abs=0.01)


async def test_a_server_that_rejects_the_subscription_ends_the_waits(gate: RedisGate, state: Server) -> None:
    """A user who may not subscribe has to be told, because every wait would depend on it."""
    state.listening = errors.NoPermissionError("x")
    with pytest.raises(UsageError, match="RedisGate: the given client does not permit the user"):
        await enter(gate)


async def test_what_a_server_rejects_is_not_known_to_it(gate: RedisGate, state: Server) -> None:
    """A rejected report is lost: the process says which permits it still holds, so that the server ends the others."""
    state.steps = [GRANTED, NOTHING]
    permit = await enter(gate)
    state.failure = errors.NoPermissionError("x")
    gate.responded(permit)
    await asyncio.sleep(0.5)
    state.failure = None
    waiting = enter(gate)
    await asyncio.sleep(0.5)
    assert [number for _, number, *_ in state.reports] == [1]
    assert state.rejoins[:3] == [True, False, True]
    await end([waiting])


def test_a_gate_serves_one_event_loop_after_the_other(state: Server) -> None:
    """What a closed loop left behind is forgotten; while a report of one loop is due, no other may use the gate."""
    state.steps = [GRANTED]
    gate = gate_of(state)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        left = first.run(hold(gate))
        gate.responded(first.run(hold(gate)))
        with pytest.raises(StateError, match="in use in another event loop"):
            second.run(hold(gate))
        first.close()
        gate.responded(left)
        gate.responded(second.run(hold(gate)))
        processes = [each.process for each in state.exchanges]
        assert processes.count(processes[-1]) == 1
        second.run(gate.aclose())


def test_a_gate_that_is_idle_serves_another_event_loop(state: Server) -> None:
    """The loop before need not have ended, once nothing is left to report."""
    state.steps = [GRANTED, replace(NOTHING, is_contended=False), GRANTED, NOTHING]
    gate = gate_of(state)
    with (
        asyncio.Runner(loop_factory=VirtualTimeLoop) as first,
        asyncio.Runner(loop_factory=VirtualTimeLoop) as second,
    ):
        gate.responded(first.run(hold(gate)))
        first.run(asyncio.sleep(10.0))
        gate.responded(second.run(hold(gate)))
        second.run(gate.aclose())


@pytest.mark.parametrize(
    ("rates", "times"),
    [
        ([RateLimit(8, 10.0), RateLimit(100, 100.0)], [0.0] * 2 + [10.4] * 2 + [20.8] * 2 + [31.2]),
        ([RateLimit(3, 10.0)], [0.0, 10.4, 20.8]),
    ],
    ids=["a quarter", "less than one"],
)
async def test_each_process_keeps_its_share_of_the_rates(
    state: Server, rates: list[RateLimit], times: list[float]
) -> None:
    """One of four processes sends a quarter of what each rate allows, and at least one request."""
    state.failure = LOST
    sent: list[float] = []
    async with gate_of(state, rate=rates, workers=4) as gate:
        for waiting in [enter(gate) for _ in times]:
            gate.responded(await waiting)
            sent.append(asyncio.get_running_loop().time())
    assert sent == pytest.approx(times)


async def test_a_permit_that_outlives_the_loss_is_kept(gate: RedisGate, state: Server) -> None:
    """The server is told at the rejoin that the process still holds it, and later its end; of local permits nothing."""
    state.steps = [GRANTED, NOTHING]
    permit = await enter(gate)
    state.failure = LOST
    local = await enter(gate)
    state.failure = None
    await asyncio.sleep(2.0)
    for each in (permit, local):
        gate.responded(each)
    await gate.aclose()
    assert [(state.rejoins[number], state.kept[number]) for number in (0, 2)] == [(True, []), (True, [1])]
    assert state.reports == [("responded", 1, 9.0)]


@pytest.mark.parametrize(
    ("failure", "reported"),
    [(LOST, [1]), (errors.AuthenticationError("WRONGPASS"), [1, 2])],
    ids=["lost", "rejects"],
)
async def test_what_ends_during_a_failure_is_not_kept(
    gate: RedisGate, state: Server, failure: Exception, reported: list[int]
) -> None:
    """The process keeps neither permit when it rejoins; of a lost server it reports no end again."""
    state.steps = [replace(NOTHING, permits=reply(1, 2).permits), NOTHING]
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
    assert [number for _, number, *_ in state.reports] == reported
    assert not any(state.kept)


async def test_a_call_that_comes_alone_keeps_to_the_pauses(gate: RedisGate, state: Server) -> None:
    """The lost server is not tried earlier because a call comes when none was in flight."""
    state.failure = LOST
    for _ in range(2):
        permit = await enter(gate)
        await asyncio.sleep(0.1)
        gate.unused(permit)
        await asyncio.sleep(1.3)
    assert len(state.asked) == 2


async def test_the_server_is_tried_with_growing_pauses(gate: RedisGate, state: Server) -> None:
    """However many calls wait and go on, the pauses between exchanges double from 1 s to 10 s, with some jitter."""
    state.failure = LOST
    held = await enter(gate)
    for _ in range(300):
        await asyncio.sleep(0.1)
        for permit in await asyncio.gather(*(enter(gate) for _ in range(10))):
            gate.unused(permit)
    pauses = [later - earlier for earlier, later in pairwise(state.asked)]
    for pause, least in zip(pauses, [1.0, 2.0, 4.0, 8.0, 10.0], strict=True):
        assert least - 0.01 <= pause <= 1.1 * least + 0.01
    gate.abandoned(held)


async def test_an_operation_with_a_limit_of_its_own_asks_for_no_permit(gate: RedisGate, state: Server) -> None:
    """While it is stopped, the server is asked for the other calls alone; afterwards for all, without a poll."""
    state.steps = [reply(1, 2), reply(3, wait=60.0), reply(wait=60.0)]
    limited, _ = [await task for task in [enter(gate, operation="a"), enter(gate, operation="b")]]
    gate.rate_limited(limited, wait=5.0, is_named=True)
    waiting = [enter(gate, operation=operation) for operation in "aab"]
    await asyncio.sleep(4.5)
    assert [task.done() for task in waiting] == [False, False, True]
    assert max(state.wanted[1:]) == 1
    state.steps = [reply(4), reply(wait=60.0)]
    await asyncio.sleep(0.51)
    assert [task.done() for task in waiting] == [True, False, True]
    gate.responded(waiting[0].result())
    await end(waiting)
