"""A process that shares a limit and does not reach the engine: which share it has, and how often it tries again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise

import pytest
from itwin_platform import RateLimit
from itwin_platform._http.gates.shared import EngineUnreachableError, Reply, Request, SharedGate


class Unreachable:
    """An engine that cannot be reached, and the times at which a gate tried."""

    def __init__(self) -> None:
        self.tried: list[float] = []

    async def exchange(self, request: Request) -> Reply:
        """Fail at once."""
        self.tried.append(asyncio.get_running_loop().time())
        raise EngineUnreachableError("no route")

    async def listen(self, process: str, *, ready: Callable[[], None], called: Callable[[], None]) -> None:
        """Fail at once."""
        raise EngineUnreachableError("no route")

    def leave_loop(self) -> None:
        """Nothing belongs to a loop."""

    async def aclose(self) -> None:
        """Nothing was opened."""


@pytest.fixture
def engine() -> Unreachable:
    """The engine of the gate."""
    return Unreachable()


@pytest.fixture
async def gate(engine: Unreachable) -> AsyncIterator[SharedGate]:
    """The gate of one of four processes: together 8 requests in 10 s, and 100 in 100 s."""
    rates = [RateLimit(8, 10.0), RateLimit(100, 100.0)]
    gate = SharedGate(engine, name="test", max_in_flight=40, rate=rates, workers=4, on_event=None)
    yield gate
    await gate.aclose()


async def test_each_process_keeps_its_share_of_the_rates(gate: SharedGate) -> None:
    """One of four processes sends a quarter of what each rate allows."""
    sent: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        gate.answered(permit)
        sent.append(asyncio.get_running_loop().time())

    await asyncio.gather(*(call() for _ in range(7)))
    assert sent == pytest.approx([0.0] * 2 + [10.4] * 2 + [20.8] * 2 + [31.2])


async def test_the_engine_is_tried_with_growing_pauses(gate: SharedGate, engine: Unreachable) -> None:
    """However many calls wait and go on, the pauses between exchanges double from 1 s to 10 s, with some jitter."""

    async def call() -> None:
        gate.unused(await gate.enter(gate.ticket(), max_wait=60.0, until=None))

    held = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
    for _ in range(300):
        await asyncio.sleep(0.1)
        await asyncio.gather(*(call() for _ in range(10)))
    pauses = [later - earlier for earlier, later in pairwise(engine.tried)]
    for pause, least in zip(pauses, [1.0, 2.0, 4.0, 8.0, 10.0], strict=False):
        assert least - 0.01 <= pause <= 1.1 * least + 0.01
    assert len(pauses) == 5
    gate.abandoned(held)
