"""The queue of a gate: first in, first out, with nothing left behind by a cancelled call."""

import asyncio
import math
import random
from collections.abc import Callable, Coroutine
from typing import TypeVar

import pytest
from itwin_platform import Gate, RateLimit, StateError, UsageError

from tests.support.faces import Permit
from tests.support.gate_waiters import enter, settle

T = TypeVar("T")


async def test_waiters_are_served_in_the_order_of_their_calls() -> None:
    """Calls get permits in the order in which they began, even when a retry queues again after later calls."""
    gate = Gate(1)
    tickets = [gate.ticket() for _ in range(6)]
    first = await enter(gate, ticket=tickets[0])
    served: list[int] = []

    async def wait(ticket: int) -> None:
        permit = await gate.enter(ticket, max_wait=60.0, until=None)
        served.append(ticket)
        gate.responded(permit)

    tasks = [
        asyncio.create_task(wait(ticket)) for ticket in (tickets[3], tickets[5], tickets[1], tickets[4], tickets[2])
    ]
    await settle()
    gate.responded(first)
    await asyncio.gather(*tasks)
    assert served == tickets[1:]


async def test_a_cancelled_waiter_leaves_no_trace() -> None:
    """A cancelled waiter is not counted, and all others get their permits, wherever it was in the queue."""
    for cancelled in range(4):
        gate = Gate(1)
        in_flight = await enter(gate)
        tasks = [enter(gate) for _ in range(4)]
        await settle()
        tasks[cancelled].cancel()
        await settle()
        assert repr(gate).endswith("in_flight=1, waiting=3)")
        gate.responded(in_flight)
        for task in tasks[:cancelled] + tasks[cancelled + 1 :]:
            gate.responded(await task)
        assert repr(gate).endswith("in_flight=0, waiting=0)")


@pytest.mark.parametrize("rate", [RateLimit(4, 100.0), None], ids=["rate", "slow start"])
async def test_a_waiter_that_is_cancelled_with_its_permit_costs_no_place(rate: RateLimit | None) -> None:
    """It neither counts against the rate nor as a response that widens the slow start: exactly one other goes on."""
    gate = Gate(20, rate)
    limited = await enter(gate)
    gate.rate_limited(limited, wait=1.0)
    first = await enter(gate)
    waiting = [enter(gate) for _ in range(4)]
    await settle()
    gate.responded(first)
    waiting[0].cancel()
    await settle()
    assert [task.done() for task in waiting] == [True, True, True, False]
    waiting[3].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.parametrize("has_permit", [False, True], ids=["before", "after"])
async def test_a_cancelled_waiter_gets_no_permit(has_permit: bool) -> None:
    """A waiter that is cancelled as a permit becomes free is skipped, or returns it unseen: the next one gets it."""
    gate = Gate(1)
    in_flight = await enter(gate)
    one, two = enter(gate), enter(gate)
    await settle()
    for step in (gate.responded, one.cancel) if has_permit else (one.cancel, gate.responded):
        step(*[in_flight] if step == gate.responded else [])
    await settle()
    assert one.cancelled()
    assert two.done()
    assert gate.in_flight == 1


async def test_a_waiter_can_be_cancelled_while_it_is_rejected() -> None:
    """A waiter that is cancelled and rejected at once raises CancelledError, in either order."""
    for cancelled_first in (True, False):
        gate = Gate(2)
        in_flight, other = await enter(gate), await enter(gate)
        waiter = enter(gate, max_wait=1.0)
        await settle()
        if cancelled_first:
            waiter.cancel()
        gate.rate_limited(in_flight, wait=30.0)
        waiter.cancel()
        await settle()
        assert waiter.cancelled()
        gate.responded(other)
        assert repr(gate).endswith("in_flight=0, waiting=0)")


async def test_no_timer_remains_without_waiters() -> None:
    """When the last waiter of a cooldown is cancelled, the gate cancels its timer."""
    gate = Gate(1)
    gate.rate_limited(await enter(gate), wait=30.0)
    waiter = enter(gate)
    await settle()
    assert gate._timer is not None
    waiter.cancel()
    await settle()
    assert gate._timer is None


async def test_closing_ends_waiting_calls() -> None:
    """Closing fails waiting and later calls with UsageError, and attempts in flight can still end."""
    gate = Gate(2)
    first, second = await enter(gate), await enter(gate)
    gate.rate_limited(first, wait=30.0)
    waiting = [enter(gate) for _ in range(3)]
    await settle()
    waiting[1].cancel()
    await gate.aclose()
    await gate.aclose()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in ended] == [StateError, asyncio.CancelledError, StateError]
    with pytest.raises(StateError, match="the gate is closed"):
        await enter(gate)
    gate.responded(second)
    assert repr(gate).endswith("in_flight=0, waiting=0)")


@pytest.mark.parametrize("seed", range(20))
async def test_any_mixture_of_cancelling_and_ending_leaves_the_gate_empty(seed: int) -> None:
    """After any sequence of cancelled, lost, rate limited and successful attempts, every permit is free again."""
    chance = random.Random(seed)  # noqa: S311  # a test's schedule
    gate = Gate(chance.randint(1, 5))

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=1000.0, until=None)
        try:
            assert gate.cooldown_left() == 0
            await asyncio.sleep(chance.random())
        except asyncio.CancelledError:
            gate.abandoned(permit)
            raise
        if chance.random() < 0.2:
            gate.rate_limited(permit, wait=chance.random() * 5)
        else:
            chance.choice((gate.responded, gate.abandoned))(permit)

    tasks = [asyncio.create_task(call()) for _ in range(60)]
    for task in chance.sample(tasks, 25):
        await asyncio.sleep(chance.random() / 3)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert repr(gate).endswith("in_flight=0, waiting=0)")
    assert not any(not task.cancelled() and task.exception() for task in tasks)


async def test_a_waiter_that_is_closed_by_hand_blocks_nobody() -> None:
    """Closing the coroutine of a waiter frees its place in the queue, or the permit that it was granted meanwhile."""
    gate = Gate(1)
    held = await enter(gate)
    closed = [gate.enter(gate.ticket(), max_wait=60.0, until=None) for _ in range(2)]
    for coroutine in closed:
        coroutine.send(None)
    waiting = enter(gate)
    await settle()
    closed[0].close()
    gate.responded(held)  # the permit goes to the second one, which is closed before it continues
    closed[1].close()
    gate.responded(await waiting)
    assert repr(gate) == "Gate(max_in_flight=1, in_flight=0, waiting=0)"


def in_a_loop(work: Coroutine[object, object, T], loop: asyncio.AbstractEventLoop | None = None) -> T:
    """Run a coroutine in an event loop of its own, or in the given one."""
    if loop is not None:
        return loop.run_until_complete(work)
    with asyncio.Runner() as runner:
        return runner.run(work)


def test_a_gate_belongs_to_a_loop_while_it_is_in_use() -> None:
    """Another loop gets StateError while a permit is out; after its end the gate moves over, its cooldowns included."""
    gate = Gate(2)
    first = asyncio.new_event_loop()

    async def hold() -> Permit:
        return await enter(gate)

    permit = in_a_loop(hold(), first)
    with pytest.raises(StateError, match="in use in another event loop: make another gate here"):
        in_a_loop(hold())
    with pytest.raises(StateError, match="in use in another event loop"):
        in_a_loop(gate.aclose())
    gate.rate_limited(permit, wait=0.01)
    first.close()
    gate.responded(in_a_loop(hold()))
    assert gate.in_flight == 0


def test_a_gate_outlives_a_loop_that_was_closed_under_its_tasks() -> None:
    """What a closed loop held is forgotten, because nothing will end it."""
    gate = Gate(1)
    loop = asyncio.new_event_loop()

    async def hold() -> Permit:
        return await enter(gate)

    in_a_loop(hold(), loop)
    waiting = gate.enter(gate.ticket(), max_wait=60.0, until=None)
    task = loop.create_task(waiting)
    in_a_loop(asyncio.sleep(0), loop)
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # it is destroyed on purpose
    loop.close()
    waiting.close()
    gate.responded(in_a_loop(hold()))
    assert repr(gate) == "Gate(max_in_flight=1, in_flight=0, waiting=0)"


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Gate(math.nan), "max_in_flight"),  # type: ignore[arg-type]
        (lambda: Gate(True), "max_in_flight"),
        (lambda: Gate(1.5), "max_in_flight"),  # type: ignore[arg-type]
        (lambda: Gate(0), "max_in_flight"),
        (lambda: Gate(rate="100/60"), "rate"),  # type: ignore[arg-type]
        (lambda: Gate(rate=5), "rate"),  # type: ignore[arg-type]
        (lambda: RateLimit(math.nan, 1), "requests"),  # type: ignore[arg-type]
        (lambda: RateLimit(True, 1), "requests"),
        (lambda: RateLimit("5", 1), "requests"),  # type: ignore[arg-type]
        (lambda: RateLimit(0, 1), "requests"),
        (lambda: RateLimit(5, math.nan), "per"),
        (lambda: RateLimit(5, True), "per"),
        (lambda: RateLimit(5, "1"), "per"),  # type: ignore[arg-type]
        (lambda: RateLimit(5, 0), "per"),
        (lambda: RateLimit(5, math.inf), "per"),
    ],
)
def test_a_wrong_argument_is_rejected_at_once(make: Callable[[], object], named: str) -> None:
    """A wrong type or number raises UsageError that names the argument."""
    with pytest.raises(UsageError, match=f"^{named} must be") as caught:
        make()
    assert caught.value.argument == named
