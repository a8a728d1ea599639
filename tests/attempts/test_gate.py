"""Where tasks wait for their turn: in order, without a trace of who left, never while a cooldown is known."""

import asyncio
import random
import sys
import tracemalloc

import pytest
from itwin_platform import Gate, Permit, RateLimit, UsageError, WaitTooLongError


async def settle() -> None:
    """Let every task go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def enter(
    gate: Gate, *, ticket: int | None = None, max_wait: float = 60.0, until: float | None = None
) -> asyncio.Task[Permit]:
    """Wait at the gate, in a task."""
    place = gate.ticket() if ticket is None else ticket
    return asyncio.create_task(gate.enter(place, max_wait=max_wait, until=until))


async def test_no_more_begin_than_the_gate_allows() -> None:
    """The third waits until one of the two ends; `repr` tells so."""
    gate = Gate(2)
    tasks = [enter(gate) for _ in range(3)]
    await settle()
    assert [task.done() for task in tasks] == [True, True, False]
    assert repr(gate) == "Gate(in_flight=2, waiting=1)"
    gate.answered(tasks[0].result())
    await tasks[2]
    assert gate.in_flight == 2


async def test_waiters_are_served_in_the_order_of_their_calls() -> None:
    """A call that comes again goes before those that began later, whenever they came to the gate."""
    gate = Gate(1)
    tickets = [gate.ticket() for _ in range(6)]
    first = await enter(gate, ticket=tickets[0])
    served: list[int] = []

    async def wait(ticket: int) -> None:
        given = await gate.enter(ticket, max_wait=60.0, until=None)
        served.append(ticket)
        gate.answered(given)

    tasks = [
        asyncio.create_task(wait(ticket)) for ticket in (tickets[3], tickets[5], tickets[1], tickets[4], tickets[2])
    ]
    await settle()
    gate.answered(first)
    await asyncio.gather(*tasks)
    assert served == tickets[1:]


async def test_a_cancelled_waiter_leaves_no_trace() -> None:
    """First, middle or last: who is cancelled is not counted, and everybody else is served as before."""
    for left in range(4):
        gate = Gate(1)
        under_way = await enter(gate)
        tasks = [enter(gate) for _ in range(4)]
        await settle()
        tasks[left].cancel()
        await settle()
        assert repr(gate) == "Gate(in_flight=1, waiting=3)"
        gate.answered(under_way)
        for task in tasks[:left] + tasks[left + 1 :]:
            gate.answered(await task)
        assert repr(gate) == "Gate(in_flight=0, waiting=0)"


async def test_a_waiter_that_is_cancelled_with_its_turn_gives_it_on() -> None:
    """Cancelled after the turn was given and before it went on: the next one has it."""
    gate = Gate(1)
    under_way = await enter(gate)
    one, two = enter(gate), enter(gate)
    await settle()
    gate.answered(under_way)
    one.cancel()
    await settle()
    assert one.cancelled()
    assert two.done()
    assert gate.in_flight == 1


async def test_a_waiter_that_is_cancelled_before_its_turn_is_passed_over() -> None:
    """Cancelled before the turn was given, and not yet gone: the turn goes to the next one."""
    gate = Gate(1)
    under_way = await enter(gate)
    one, two = enter(gate), enter(gate)
    await settle()
    one.cancel()
    gate.answered(under_way)
    await settle()
    assert one.cancelled()
    assert two.done()
    assert gate.in_flight == 1


async def test_a_waiter_that_is_cancelled_while_it_is_turned_away_disturbs_nobody() -> None:
    """A cancelled task is cancelled, also where it could not have waited so long, whatever came first."""
    for cancelled_first in (True, False):
        gate = Gate(2)
        under_way, other = await enter(gate), await enter(gate)
        waiter = enter(gate, max_wait=1.0)
        await settle()
        if cancelled_first:
            waiter.cancel()
        gate.rate_limited(under_way, wait=30.0)
        waiter.cancel()
        await settle()
        assert waiter.cancelled()
        gate.answered(other)
        assert repr(gate) == "Gate(in_flight=0, waiting=0)"


async def test_nobody_begins_in_a_cooldown() -> None:
    """After a 429 everybody waits until the cooldown ends, to the moment; then they begin 1, 2, 4 at a time."""
    gate = Gate(20)
    loop = asyncio.get_running_loop()
    begun: list[float] = []

    async def call() -> None:
        given = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        begun.append(loop.time())
        await asyncio.sleep(0.1)
        gate.answered(given)

    gate.rate_limited(await enter(gate), wait=30.0)
    assert gate.cooldown_left() == 30.0
    await asyncio.gather(*(call() for _ in range(15)))
    assert [round(at - begun[0], 6) for at in begun] == [0.0] + [0.1] * 2 + [0.2] * 4 + [0.3] * 8
    assert begun[0] == pytest.approx(30.0)


async def test_a_turn_that_was_given_does_not_count_in_a_cooldown() -> None:
    """A task that has its turn and has not gone on yet waits when a cooldown becomes known, and keeps its place."""
    gate = Gate(2)
    one, two = await enter(gate), await enter(gate)
    given, later = enter(gate), enter(gate)
    await settle()
    gate.answered(one)
    gate.rate_limited(two, wait=10.0)
    await settle()
    assert not given.done()
    gate.answered(await given)
    gate.answered(await later)
    assert asyncio.get_running_loop().time() == pytest.approx(10.0)
    assert repr(gate) == "Gate(in_flight=0, waiting=0)"


@pytest.mark.parametrize(("max_wait", "until"), [(29.0, None), (60.0, 30.0), (60.0, 29.0)])
async def test_who_cannot_wait_so_long_is_turned_away_at_once(max_wait: float, until: float | None) -> None:
    """A cooldown past `max_wait` or the deadline is rejected before it is begun, when it is known and when it comes."""
    gate = Gate(1)
    under_way = await enter(gate)
    waiting = enter(gate, max_wait=max_wait, until=until)
    patient = enter(gate)
    await settle()
    gate.rate_limited(under_way, wait=30.0)
    with pytest.raises(WaitTooLongError, match="lasts 30 s more"):
        await waiting
    with pytest.raises(WaitTooLongError, match="lasts 30 s more"):
        await enter(gate, max_wait=max_wait, until=until)
    assert asyncio.get_running_loop().time() == 0.0
    gate.answered(await patient)
    assert asyncio.get_running_loop().time() == pytest.approx(30.0)


async def test_a_longer_cooldown_moves_the_end() -> None:
    """A second 429 that asks for more makes all wait for it."""
    gate = Gate(2)
    one, two = await enter(gate), await enter(gate)
    gate.rate_limited(one, wait=5.0)
    waiter = enter(gate)
    await settle()
    gate.rate_limited(two, wait=50.0)
    await waiter
    assert asyncio.get_running_loop().time() == pytest.approx(50.0)


async def test_a_steady_rate_lets_in_by_the_clock() -> None:
    """Two in ten seconds, each counted 4 % longer: five begin at 0, 0, 10.4, 10.4 and 20.8."""
    gate = Gate(20, RateLimit(2, 10.0))
    begun: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        gate.sending(permit)
        gate.answered(permit)
        begun.append(asyncio.get_running_loop().time())

    await asyncio.gather(*(call() for _ in range(5)))
    assert begun == pytest.approx([0.0, 0.0, 10.4, 10.4, 20.8])


@pytest.mark.parametrize("seed", range(5))
async def test_a_known_rate_is_used_up_without_a_429(seed: int) -> None:
    """The service counts arrivals, which take unequally long: none is one too many, and 95 % of the rate is used."""
    chance = random.Random(seed)  # noqa: S311  # a test's latencies
    gate = Gate(20, RateLimit(50, 1.0))
    loop = asyncio.get_running_loop()
    arrivals: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        gate.sending(permit)
        await asyncio.sleep(chance.uniform(0.0, 0.03))
        arrivals.append(loop.time())
        await asyncio.sleep(chance.uniform(0.0, 0.03))
        gate.answered(permit)

    await asyncio.gather(*(call() for _ in range(1000)))
    arrivals.sort()
    assert all(later - earlier >= 1.0 for earlier, later in zip(arrivals, arrivals[50:], strict=False))
    # Twenty times fifty are sent in nineteen stretches, and the last fifty take their time besides.
    assert arrivals[-50] <= 19 / 0.95


async def test_the_gate_outlives_the_waiters_of_a_cooldown() -> None:
    """When the last waiter leaves in a cooldown, no timer stays behind."""
    gate = Gate(1)
    gate.rate_limited(await enter(gate), wait=30.0)
    waiter = enter(gate)
    await settle()
    assert gate._timer is not None
    waiter.cancel()
    await settle()
    assert gate._timer is None


async def test_a_probe_of_a_long_cooldown_passes_while_others_raise() -> None:
    """After a minute of a day's cooldown one call passes, sees no cooldown until it sends, and its success ends it."""
    gate = Gate(20)
    gate.rate_limited(await enter(gate), wait=86_400.0)
    with pytest.raises(WaitTooLongError):
        await enter(gate)
    await asyncio.sleep(60.0)
    probe = await enter(gate)
    assert gate.cooldown_left() == 0.0
    with pytest.raises(WaitTooLongError, match="lasts 86340 s more"):
        await enter(gate)
    gate.sending(probe)
    assert gate.cooldown_left() == 86_340.0
    gate.answered(probe)
    assert gate.cooldown_left() == 0.0
    gate.answered(await enter(gate))


async def test_patient_waiters_probe_too() -> None:
    """Who may wait for ever waits in the queue, and its first one is sent each minute."""
    gate = Gate(20)
    gate.rate_limited(await enter(gate), wait=86_400.0)
    waiting = [enter(gate, max_wait=1e9) for _ in range(3)]
    probe = await waiting[0]
    assert asyncio.get_running_loop().time() == pytest.approx(60.0)
    gate.sending(probe)
    gate.answered(probe)
    for task in waiting[1:]:
        gate.answered(await task)
    assert asyncio.get_running_loop().time() == pytest.approx(60.0)


async def test_permits_that_are_not_sent_hold_a_place_of_the_rate() -> None:
    """Tokens that take 3 s do not let more requests out at once than the rate allows."""
    gate = Gate(20, [RateLimit(5, 1.0)])
    sent: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        await asyncio.sleep(3.0)
        gate.sending(permit)
        sent.append(asyncio.get_running_loop().time())
        gate.answered(permit)

    await asyncio.gather(*(call() for _ in range(10)))
    assert sent == pytest.approx([3.0] * 5 + [7.04] * 5)


async def test_ten_thousand_waiters_are_cheap() -> None:
    """A waiter with its task takes at most 2 kB, and a 429 does not walk over all of them."""
    gate = Gate(2)
    first, second = await enter(gate), await enter(gate)
    # A tracer, such as that of a coverage run, keeps memory of its own for each suspended frame.
    tracer = sys.gettrace()
    sys.settrace(None)
    tracemalloc.start()
    try:
        tasks = [enter(gate, until=1e6) for _ in range(10_000)]
        await settle()
        assert tracemalloc.get_traced_memory()[0] <= 2048 * 10_000
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


async def test_who_left_early_is_forgotten() -> None:
    """A queue in which all are cancelled again and again holds no memory of them."""
    gate = Gate(1)
    gate.rate_limited(await enter(gate), wait=30.0)
    for _ in range(20):
        tasks = [enter(gate, until=1e6) for _ in range(50)]
        await settle()
        for task in tasks:
            task.cancel()
        await settle()
    assert len(gate._queue._by_ticket._entries) < 200


async def test_closing_ends_all_waits() -> None:
    """Waiting tasks raise UsageError, in a cooldown too; nobody enters afterwards, and what was sent can end."""
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
    """Whatever is cancelled, lost, rate limited or answered when: all who stay are served, and no place is lost."""
    chance = random.Random(seed)  # noqa: S311  # a test's schedule
    gate = Gate(chance.randint(1, 5))

    async def call() -> None:
        given = await gate.enter(gate.ticket(), max_wait=1000.0, until=None)
        try:
            assert gate.cooldown_left() == 0
            await asyncio.sleep(chance.random())
        except asyncio.CancelledError:
            gate.abandoned(given)
            raise
        if chance.random() < 0.2:
            gate.rate_limited(given, wait=chance.random() * 5)
        else:
            chance.choice((gate.answered, gate.abandoned))(given)

    tasks = [asyncio.create_task(call()) for _ in range(60)]
    for task in chance.sample(tasks, 25):
        await asyncio.sleep(chance.random() / 3)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert repr(gate) == "Gate(in_flight=0, waiting=0)"
    assert not any(not task.cancelled() and task.exception() for task in tasks)
