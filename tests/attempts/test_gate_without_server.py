"""A process that shares a limit and does not reach the server: which share it has, and how often it tries again."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from itwin_platform import RateLimit

from tests.support.faces import RedisGate, RedisState, Reply, ServerUnreachableError


class Unreachable(RedisState):
    """A server that cannot be reached, and the times at which a gate tried."""

    def __init__(self) -> None:
        self.tried: list[float] = []

    async def exchange(self, **_: object) -> Reply:
        """Fail at once."""
        self.tried.append(asyncio.get_running_loop().time())
        raise ServerUnreachableError("no route")

    async def aclose(self) -> None:
        """Nothing was opened."""


@pytest.fixture
def state() -> Unreachable:
    """The server of the gate."""
    return Unreachable()


@pytest.fixture
async def gate(state: Unreachable) -> AsyncIterator[RedisGate]:
    """The gate of one of four processes: together 8 requests in 10 s, and 100 in 100 s."""
    rates = [RateLimit(8, 10.0), RateLimit(100, 100.0)]
    gate = RedisGate("redis://localhost", name="test", max_in_flight=40, rate=rates, workers=4)
    gate._state = state
    yield gate
    await gate.aclose()


async def test_each_process_keeps_its_share_of_the_rates(gate: RedisGate) -> None:
    """One of four processes sends a quarter of what each rate allows."""
    sent: list[float] = []

    async def call() -> None:
        permit = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
        gate.responded(permit)
        sent.append(asyncio.get_running_loop().time())

    await asyncio.gather(*(call() for _ in range(7)))
    assert sent == pytest.approx([0.0] * 2 + [10.4] * 2 + [20.8] * 2 + [31.2])


async def test_the_server_is_tried_with_growing_pauses(gate: RedisGate, state: Unreachable) -> None:
    """However many calls wait and go on, the pauses between exchanges double from 1 s to 10 s, with some jitter."""

    async def call() -> None:
        gate.unused(await gate.enter(gate.ticket(), max_wait=60.0, until=None))

    held = await gate.enter(gate.ticket(), max_wait=60.0, until=None)
    for _ in range(300):
        await asyncio.sleep(0.1)
        await asyncio.gather(*(call() for _ in range(10)))
    pauses = [later - earlier for earlier, later in pairwise(state.tried)]
    for pause, least in zip(pauses, [1.0, 2.0, 4.0, 8.0, 10.0], strict=False):
        assert least - 0.01 <= pause <= 1.1 * least + 0.01
    assert len(pauses) == 5
    gate.abandoned(held)
