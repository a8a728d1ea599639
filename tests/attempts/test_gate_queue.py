"""The queue of a gate: first in, first out, with nothing left behind by a cancelled call."""

import asyncio
import random
import sys
import tracemalloc

import pytest
from itwin_platform import Gate, UsageError

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


async def test_waiters_are_cheap() -> None:
    """A waiter takes at most 2 kB with its task, and a 429 does not visit all of them."""
    gate = Gate(2)
    first, second = await enter(gate), await enter(gate)
    # A tracer, such as that of a coverage run, keeps memory of its own for each suspended frame.
    tracer = sys.gettrace()
    sys.settrace(None)
    tracemalloc.start()
    try:
        tasks = [enter(gate, until=1e6) for _ in range(1_000)]
        await settle()
        assert tracemalloc.get_traced_memory()[0] <= 2048 * 1_000
    finally:
        tracemalloc.stop()
        sys.settrace(tracer)
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        gate.rate_limited(first, wait=5.0)
    finally:
        sys.setprofile(None)
    assert steps < 200
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    gate.answered(second)
    assert repr(gate) == "Gate(in_flight=0, waiting=0)"


class CountedTicket(int):
    """A ticket that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedTicket.compared += 1
        return int(self) == other

    def __lt__(self, other: int) -> bool:
        CountedTicket.compared += 1
        return int(self) < int(other)

    def __hash__(self) -> int:
        return hash(int(self))


@pytest.mark.parametrize("ticket", [-1, 5_000, 20_000], ids=["first", "in the middle", "last"])
async def test_a_call_finds_its_place_without_visiting_all(ticket: int) -> None:
    """Behind 10,000 waiting calls, another one is compared with fewer than 50 of them, wherever its place is."""
    gate = Gate(1)
    in_flight = await enter(gate)
    tasks = [enter(gate, ticket=CountedTicket(number)) for number in range(10_000)]
    await settle()
    CountedTicket.compared = 0
    tasks.append(enter(gate, ticket=CountedTicket(ticket)))
    await settle()
    assert len(gate._queue) == 10_001
    assert 0 < CountedTicket.compared < 50
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    gate.answered(in_flight)


async def test_cancelled_waiters_take_no_memory() -> None:
    """A queue whose waiters are cancelled again and again does not grow."""
    gate = Gate(1)
    gate.rate_limited(await enter(gate), wait=30.0)
    for _ in range(20):
        tasks = [enter(gate, until=1e6) for _ in range(50)]
        await settle()
        for task in tasks:
            task.cancel()
        await settle()
    assert len(gate._queue._by_ticket._entries) < 200


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
