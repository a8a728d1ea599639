"""The queue of a gate: first in, first out, with nothing left behind by a cancelled call."""

import asyncio
import random

import pytest
from itwin_platform import Gate, RateLimit, UsageError

from tests.support.gate_waiters import enter, settle


async def test_waiters_are_served_in_the_order_of_their_calls() -> None:
    """Calls get permits in the order in which they began, even when a retry queues again after later calls."""
    gate = Gate(1)
    tickets = [gate.ticket() for _ in range(6)]
    first = await enter(gate, ticket=tickets[0])
    served: list[int] = []

    async def wait(ticket: int) -> None:
        permit = await gate.enter(ticket, max_wait=60.0, until=None)
        served.append(ticket)
        gate.answered(permit)

    tasks = [
        asyncio.create_task(wait(ticket)) for ticket in (tickets[3], tickets[5], tickets[1], tickets[4], tickets[2])
    ]
    await settle()
    gate.answered(first)
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
        assert repr(gate) == "Gate(in_flight=1, waiting=3)"
        gate.answered(in_flight)
        for task in tasks[:cancelled] + tasks[cancelled + 1 :]:
            gate.answered(await task)
        assert repr(gate) == "Gate(in_flight=0, waiting=0)"


async def test_a_waiter_that_is_cancelled_with_its_permit_returns_it() -> None:
    """A waiter that is cancelled before it has seen its permit returns it to the next one."""
    gate = Gate(1)
    in_flight = await enter(gate)
    one, two = enter(gate), enter(gate)
    await settle()
    gate.answered(in_flight)
    one.cancel()
    await settle()
    assert one.cancelled()
    assert two.done()
    assert gate.in_flight == 1


@pytest.mark.parametrize("rate", [RateLimit(4, 100.0), None], ids=["rate", "slow start"])
async def test_a_waiter_that_is_cancelled_with_its_permit_costs_no_place(rate: RateLimit | None) -> None:
    """It neither counts against the rate nor as a response that widens the slow start: exactly one other goes on."""
    gate = Gate(20, rate)
    limited = await enter(gate)
    gate.rate_limited(limited, wait=1.0)
    first = await enter(gate)
    waiting = [enter(gate) for _ in range(4)]
    await settle()
    gate.answered(first)
    waiting[0].cancel()
    await settle()
    assert [task.done() for task in waiting] == [True, True, True, False]
    waiting[3].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_cancelled_waiter_gets_no_permit() -> None:
    """A waiter that was cancelled in this iteration of the loop is skipped, and the next one gets the permit."""
    gate = Gate(1)
    in_flight = await enter(gate)
    one, two = enter(gate), enter(gate)
    await settle()
    one.cancel()
    gate.answered(in_flight)
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
        gate.answered(other)
        assert repr(gate) == "Gate(in_flight=0, waiting=0)"


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
    assert [type(each) for each in ended] == [UsageError, asyncio.CancelledError, UsageError]
    with pytest.raises(UsageError, match="the gate is closed"):
        await enter(gate)
    gate.answered(second)
    assert repr(gate) == "Gate(in_flight=0, waiting=0)"


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
            chance.choice((gate.answered, gate.abandoned))(permit)

    tasks = [asyncio.create_task(call()) for _ in range(60)]
    for task in chance.sample(tasks, 25):
        await asyncio.sleep(chance.random() / 3)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert repr(gate) == "Gate(in_flight=0, waiting=0)"
    assert not any(not task.cancelled() and task.exception() for task in tasks)
