"""Thousands of tasks that wait at a gate: what each costs in memory, and what it costs to queue and to reject them."""

import asyncio
import sys
import tracemalloc

import pytest
from itwin_platform import Gate

from tests.support.counted_calls import counted_calls
from tests.support.gate_waiters import enter, settle


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
    with counted_calls() as calls:
        gate.rate_limited(first, wait=5.0)
    assert len(calls) < 50
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    gate.responded(second)
    assert repr(gate).endswith("in_flight=0, waiting=0)")


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


@pytest.mark.parametrize("ticket", [-1, 1_000, 2_000], ids=["first", "in the middle", "last"])
async def test_a_call_finds_its_place_without_visiting_all(ticket: int) -> None:
    """Behind 2,000 waiting calls, another one is compared with fewer than 50 of them, wherever its place is."""
    gate = Gate(1)
    in_flight = await enter(gate)
    tasks = [enter(gate, ticket=CountedTicket(number)) for number in range(2_000)]
    await settle()
    CountedTicket.compared = 0
    tasks.append(enter(gate, ticket=CountedTicket(ticket)))
    await settle()
    assert gate._queue.waiting == 2_001
    assert 0 < CountedTicket.compared < 50
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    gate.responded(in_flight)


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
