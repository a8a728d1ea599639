"""Gates on a real Redis server, each of which stands for a process of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from itwin_platform import Permit, RateLimit, RedisGate
from itwin_platform._gates.engine import Reply, Request
from itwin_platform._gates.redis import _RedisEngine
from itwin_platform._gates.shared import SharedGate

from tests.support.redis_server import server_program

needs_redis = pytest.mark.skipif(server_program() is None, reason="no Redis server is installed")

#: Time is real here, because the server's is: nothing may take longer than this.
PATIENCE = 5.0


def run(work: Callable[[], Any]) -> None:
    """Run a test in a loop with real time."""

    async def bounded() -> None:
        async with asyncio.timeout(4 * PATIENCE):
            await work()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(bounded())


@asynccontextmanager
async def gates(url: str, count: int = 2, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """Open as many gates of one name, and check that none leaves a task behind."""
    opened = [RedisGate(url, name="test, app 7", **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()} | {
            task for task in asyncio.all_tasks() if "bounded" in repr(task)
        }


async def enter(gate: SharedGate, *, max_wait: float = 60.0) -> Permit:
    """Wait for a permit."""
    async with asyncio.timeout(PATIENCE):
        return await gate.enter(gate.ticket(), max_wait=max_wait, until=None)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until other tasks, or the server, have made the condition true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # the server sets off no event here
            await asyncio.sleep(0.005)


class ClockedEngine(_RedisEngine):
    """The engine with a script that reads its time from a list, which is set before each exchange."""

    def __init__(self, url: str, *, name: str, max_in_flight: int, rates: tuple[RateLimit, ...] = ()) -> None:
        super().__init__(url, name=name, max_in_flight=max_in_flight, rates=rates)
        clock = "redis.call('TIME')"
        assert self._script.count(clock) == 1
        self._script = self._script.replace(clock, "redis.call('LRANGE', 'clock', 0, 1)")
        self._digest = "0" * 40

    async def exchange_at(self, now: float, request: Request) -> Reply:
        """Run the script at this time."""
        await self._redis.delete("clock")
        await self._redis.rpush("clock", int(now), round(now % 1 * 1_000_000))
        return await self.exchange(request)
