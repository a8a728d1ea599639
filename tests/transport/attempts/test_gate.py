"""The gate: its first-in-first-out queue, its limits, and calls that are cancelled while they wait."""

import asyncio
import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from itwin_platform_transport import Gate, RateLimit, StateError, UsageError
from itwin_platform_transport.gates.window import WaitTooLongError

from tests.support.event_loops import VirtualTimeLoop
from tests.support.gates import end, enter, hold, settle


async def test_waiters_are_served_in_the_order_of_their_calls() -> None:
    """A retry that queues again comes before later calls, also when other waiters are cancelled."""
    source = random.Random(5)  # noqa: S311  # a test's schedule
    gate = Gate(1)
    permit = await enter(gate)
    tickets = source.sample(range(1_000), 300)
    waiting = {ticket: enter(gate, ticket=ticket) for ticket in tickets}
    await settle()
    await end([waiting.pop(ticket) for ticket in source.sample(tickets, 200)])
    later = {ticket: enter(gate, ticket=ticket) for ticket in range(1_000, 1_010)}
    for _, task in sorted((waiting | later).items()):
        await settle()
        assert not task.done()
        gate.responded(permit)
        permit = await task
    gate.responded(permit)


async def test_an_operation_leaves_permits_to_others_that_are_in_use() -> None:
    """An operation gets at most three quarters of the permits if another was called in the last 30 s; otherwise all."""
    gate = Gate(8)
    gate.responded(await enter(gate, operation="b"))
    waiting = [enter(gate, operation="a") for _ in range(9)]
    await settle()
    assert (gate.in_flight, gate.waiting) == (6, 3)
    gate.responded(await enter(gate, operation="b"))
    for seconds, in_flight, left in ((30.0, 6, 2), (0.1, 7, 0)):
        await asyncio.sleep(seconds)
        gate.responded(await waiting.pop(0))
        await settle()
        assert (gate.in_flight, gate.waiting) == (in_flight, left)


@pytest.mark.parametrize(("most", "in_flight"), [(20, 15 + 3 + 1), (3, 2), (2, 1)])
async def test_operations_that_hang_leave_a_permit_to_others(most: int, in_flight: int) -> None:
    """Each operation gets at most three quarters of the permits that others do not hold, or one, in any gate."""
    gate, hanging = Gate(most), "abc" if most == 20 else "a"
    for operation in f"{hanging}d":
        gate.responded(await enter(gate, operation=operation))
    tasks = [enter(gate, operation=operation) for operation in hanging for _ in range(20)]
    await settle()
    assert gate.in_flight == in_flight
    gate.responded(await enter(gate, operation="d"))
    await end(tasks)


async def test_the_operation_that_was_limited_comes_after_others() -> None:
    """For five seconds after the cooldown, other operations come first: the limit may be that of the operation."""
    gate = Gate(1, random_number=lambda: 0.0)
    gate.responded(await enter(gate, operation="b"))
    gate.rate_limited(await enter(gate, operation="a"), wait=2.0)
    served: list[str] = []

    async def call(operation: str) -> None:
        permit = await enter(gate, operation=operation)
        served.append(operation)
        await asyncio.sleep(1.0)
        gate.responded(permit)

    await asyncio.gather(*(call(operation) for operation in ("a", "a", *"bbbbbbb")))
    assert "".join(served) == "bbbbbaabb"


async def test_no_attempt_starts_in_a_cooldown() -> None:
    """After a 429 no attempt starts before the cooldown ends; then 1, 2, 4 and 8 start at a time.

    No more start than the service has accepted in the time that the 429 ended.
    """
    gate, started = Gate(20), list[float]()

    async def call() -> None:
        permit = await hold(gate)
        started.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.1)
        gate.responded(permit)

    limited, *accepted = [await enter(gate, operation="a") for _ in range(19)]
    for permit in accepted:
        gate.responded(permit)
    # It names its operation, but no other one is in use: it stops all.
    gate.rate_limited(limited, wait=10.0, is_named=True)
    assert gate.cooldown_left() == 10.0
    await asyncio.gather(*(call() for _ in range(20)))
    assert started == pytest.approx([10.0, *[10.1] * 2, *[10.2] * 4, *[10.3] * 8, *[10.4] * 3, 20.4, 20.5])


async def test_a_cooldown_takes_back_a_permit_that_no_task_has_seen() -> None:
    """A task that got its permit in the loop iteration of a 429 waits for the cooldown at its place in the queue."""
    gate = Gate(2)
    one, two = await enter(gate), await enter(gate)
    granted, later = enter(gate), enter(gate)
    await settle()
    gate.responded(one)
    gate.rate_limited(two, wait=10.0)
    await settle()
    assert not granted.done()
    gate.responded(await granted)
    gate.responded(await later)
    assert asyncio.get_running_loop().time() == pytest.approx(10.0)
    assert (gate.in_flight, gate.waiting) == (0, 0)


@pytest.mark.parametrize("is_named", [False, True], ids=["all", "its operation"])
@pytest.mark.parametrize(("limit", "least"), [("until", 1.1), ("deadline", 1.1), ("max_wait", 1.0)])
async def test_a_cooldown_that_ends_with_a_limit_is_too_long(limit: str, least: float, is_named: bool) -> None:
    """A cooldown of exactly `max_wait` is not, and a 429 without a delay is for no call."""
    gate = Gate(1, random_number=lambda: 0.0)
    gate.responded(await enter(gate, operation="b"))
    permit, late = await enter(gate), enter(gate, until=0.0)
    await settle()
    gate.rate_limited(permit, wait=0.0, is_named=is_named)
    permit, over, waiting = await late, enter(gate, **{limit: least - 0.1}), enter(gate, **{limit: least})
    await settle()
    gate.rate_limited(permit, wait=1.0)
    with pytest.raises(WaitTooLongError):
        await over
    gate.responded(await waiting)


@pytest.mark.parametrize("rate", [RateLimit(4, 100.0), None], ids=["rate", "slow start"])
async def test_a_waiter_that_is_cancelled_with_its_permit_returns_it(rate: RateLimit | None) -> None:
    """The permit counts neither against the rate nor as a response in the slow start: one other waiter gets it."""
    gate = Gate(20, rate)
    gate.rate_limited(await enter(gate), wait=1.0)
    first = await enter(gate)
    waiting = [enter(gate) for _ in range(4)]
    await settle()
    gate.responded(first)
    waiting[0].cancel()
    await settle()
    assert [task.done() for task in waiting] == [True, True, True, False]
    await end(waiting)


@pytest.mark.parametrize("cancelled_first", [True, False])
async def test_a_waiter_can_be_cancelled_while_it_is_rejected(cancelled_first: bool) -> None:
    """A waiter that is cancelled and rejected in one loop iteration raises CancelledError, in either order."""
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
    assert (gate.in_flight, gate.waiting) == (0, 0)


def test_a_gate_belongs_to_a_loop_while_it_is_in_use() -> None:
    """Another loop gets StateError while a permit is out. Later it can use the gate, whose cooldowns still hold."""
    gate = Gate(2)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        permit = first.run(hold(gate))
        for work in (hold(gate), gate.aclose()):
            with pytest.raises(StateError, match="in use in another event loop: make another gate here"):
                second.run(work)
        gate.rate_limited(permit, wait=0.01)
        first.close()
        gate.responded(second.run(hold(gate)))
    assert gate.in_flight == 0


@pytest.mark.parametrize(("is_named", "ends_at"), [(False, 9.0), (True, 0.0)])
def test_a_cooldown_outlives_a_loop_that_was_closed_with_waiting_calls(is_named: bool, ends_at: float) -> None:
    """Calls of the next loop wait for the cooldown of all, and not for lost calls, their timer or their permits."""
    gate, loop, other = Gate(2), VirtualTimeLoop(), VirtualTimeLoop()
    lost, limited = [loop.run_until_complete(hold(gate, operation=operation)) for operation in "ab"]
    gate.rate_limited(limited, wait=9.0, is_named=is_named)
    waiting = hold(gate, operation="b")
    loop.set_exception_handler(lambda *_: None)  # asyncio reports that a task was destroyed
    task = loop.create_task(waiting)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    del task
    waiting.close()
    for operation in "ba":
        gate.responded(other.run_until_complete(hold(gate, operation=operation)))
    gate.abandoned(lost)
    assert (other.time(), gate.waiting, gate.in_flight) == (ends_at, 0, 0)
    other.close()


@pytest.mark.parametrize(
    ("rule", "make", "wrong"),
    [
        ("max_in_flight must be an integer of at least 1", Gate, [math.nan, True, 1.5, 0]),
        ("rate must be a RateLimit", lambda value: Gate(rate=value), ["100/60", 5]),
        ("requests must be an .+ of at least 1", lambda value: RateLimit(value, 1), [math.nan, True, "5", 0]),
        ("per must be .+ above 0(,|$)", lambda value: RateLimit(5, value), [math.nan, math.inf, True, "1", 0]),
    ],
)
def test_a_wrong_argument_is_rejected_at_once(rule: str, make: Callable[[Any], object], wrong: list[object]) -> None:
    """A wrong type or number raises a UsageError that names the argument."""
    for value in wrong:
        with pytest.raises(UsageError, match=f"^{rule}") as caught:
            make(value)
        assert caught.value.argument == rule.split(maxsplit=1)[0]


async def test_a_permit_ends_once() -> None:
    """A second end of a permit frees no permit of another request, and starts no cooldown."""
    gate = Gate(2)
    for first in (gate.responded, gate.abandoned, gate.unused, partial(gate.rate_limited, wait=1.0)):
        permit, other = await enter(gate), await enter(gate)
        first(permit)
        left = gate.cooldown_left()
        for second in (gate.responded, gate.abandoned, gate.unused, partial(gate.rate_limited, wait=9.0)):
            second(permit)
        assert (gate.in_flight, gate.cooldown_left()) == (1, left)
        gate.responded(other)
        await asyncio.sleep(2.0)
        gate.responded(await enter(gate))
