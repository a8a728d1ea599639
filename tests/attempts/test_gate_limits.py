"""The limits of a gate: attempts in flight, cooldowns with slow start, and rates."""

import asyncio
import random

import pytest
from itwin_platform import Gate, RateLimit

from tests.support.faces import WaitTooLongError
from tests.support.gate_waiters import enter, settle


async def test_attempts_in_flight_are_limited() -> None:
    """At a gate of two, a third call waits until an attempt ends, and `repr` shows the waiting call."""
    gate = Gate(2)
    tasks = [enter(gate) for _ in range(3)]
    await settle()
    assert [task.done() for task in tasks] == [True, True, False]
    assert repr(gate).endswith("in_flight=2, waiting=1)")
    gate.responded(tasks[0].result())
    await tasks[2]
    assert gate.in_flight == 2


async def test_no_attempt_starts_in_a_cooldown() -> None:
    """After a 429 no attempt starts before the cooldown ends; then 1, 2, 4 and 8 start at a time."""
    gate = Gate(20)
    loop = asyncio.get_running_loop()
    started: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        started.append(loop.time())
        await asyncio.sleep(0.1)
        gate.responded(permit)

    gate.rate_limited(await enter(gate), wait=30.0)
    assert gate.cooldown_left() == 30.0
    await asyncio.gather(*(call() for _ in range(15)))
    assert [round(at - started[0], 6) for at in started] == [0.0] + [0.1] * 2 + [0.2] * 4 + [0.3] * 8
    assert started[0] == pytest.approx(30.0)


async def test_a_cooldown_takes_back_a_permit_that_no_task_has_seen() -> None:
    """A task whose permit came in the same iteration as a 429 waits for the cooldown at its place in the queue."""
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
    assert repr(gate).endswith("in_flight=0, waiting=0)")


@pytest.mark.parametrize(
    ("seconds", "max_wait", "until"), [(30.0, 29.0, None), (30.0, 60.0, 30.0), (30.0, 60.0, 29.0), (0.5, 60.0, 0.4)]
)
async def test_a_cooldown_that_is_too_long_fails_immediately(
    seconds: float, max_wait: float, until: float | None
) -> None:
    """A cooldown longer than `max_wait` or the deadline fails new and waiting calls immediately."""
    gate = Gate(1)
    in_flight = await enter(gate)
    waiting = enter(gate, max_wait=max_wait, until=until)
    waits_longer = enter(gate)
    await settle()
    gate.rate_limited(in_flight, wait=seconds)
    with pytest.raises(WaitTooLongError, match=f"lasts {seconds:g} s more"):
        await waiting
    with pytest.raises(WaitTooLongError, match=f"lasts {seconds:g} s more"):
        await enter(gate, max_wait=max_wait, until=until)
    assert asyncio.get_running_loop().time() == 0.0
    gate.responded(await waits_longer)
    assert asyncio.get_running_loop().time() == pytest.approx(seconds)


async def test_a_second_429_extends_the_cooldown() -> None:
    """A second 429 with a later end extends the cooldown of all."""
    gate = Gate(2)
    one, two = await enter(gate), await enter(gate)
    gate.rate_limited(one, wait=5.0)
    waiter = enter(gate)
    await settle()
    gate.rate_limited(two, wait=50.0)
    await waiter
    assert asyncio.get_running_loop().time() == pytest.approx(50.0)


@pytest.mark.parametrize("seed", range(5))
async def test_a_known_rate_is_used_up_without_a_429(seed: int) -> None:
    """With varying latencies, arrivals never exceed the rate and use at least 95 % of it."""
    chance = random.Random(seed)  # noqa: S311  # a test's latencies
    gate = Gate(20, RateLimit(50, 1.0))
    loop = asyncio.get_running_loop()
    arrivals: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        await asyncio.sleep(chance.uniform(0.0, 0.03))
        arrivals.append(loop.time())
        await asyncio.sleep(chance.uniform(0.0, 0.03))
        gate.responded(permit)

    await asyncio.gather(*(call() for _ in range(1000)))
    arrivals.sort()
    assert all(later - earlier >= 1.0 for earlier, later in zip(arrivals, arrivals[50:], strict=False))
    # A thousand requests are twenty times fifty: the last fifty start after nineteen periods.
    assert arrivals[-50] <= 19 / 0.95


async def test_a_waiting_call_probes_a_long_cooldown() -> None:
    """When calls may wait longer than a day, the first of the queue probes after a minute."""
    gate = Gate(20)
    gate.rate_limited(await enter(gate), wait=86_400.0)
    waiting = [enter(gate, max_wait=1e9) for _ in range(3)]
    probe = await waiting[0]
    assert asyncio.get_running_loop().time() == pytest.approx(60.0)
    gate.responded(probe)
    for task in waiting[1:]:
        gate.responded(await task)
    assert asyncio.get_running_loop().time() == pytest.approx(60.0)
