"""Gates on a real Redis server, each of which stands for a process of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from itwin_platform import RateLimit, RedisGate

from tests.support.faces import RedisState, Reply, Report
from tests.support.real_time import until
from tests.support.redis_server import RedisServer, server_program

NAME = "test, app 7"

needs_redis = [
    pytest.mark.skipif(server_program() is None, reason="no Redis server is installed"),
    pytest.mark.usefixtures("patient_gates"),
]


@asynccontextmanager
async def gates(url: str, count: int = 2, *, name: str = NAME, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """Open as many gates of one name, and check that none leaves a task behind."""
    opened = [RedisGate(url, name=name, **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        # A subscription that was cancelled closes its connection before it ends.
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})


async def until_queued(server: RedisServer, processes: int = 1) -> None:
    """Wait until so many processes are in the queue of the server: each is sent the next free permit."""
    with server.client as client:
        await until(lambda: client.zcard(f"itwin-gate:{{{NAME}}}:queue") == processes)


async def until_listening(gate: RedisGate) -> None:
    """Wait until a gate has asked for one permit, and is sent it when it is free."""
    await until(lambda: gate._listens and gate._asked == 1)


async def until_idle(gate: RedisGate) -> None:
    """Wait until a gate has told the server what it has to tell, and runs no task."""
    await until(lambda: gate._pump is not None and gate._pump.done())


class ClockedState(RedisState):
    """The state with a script that reads its time from a key, which is set before an exchange."""

    def __init__(
        self, server: RedisServer, *, name: str = "test", max_in_flight: int, rates: tuple[RateLimit, ...] = ()
    ) -> None:
        super().__init__(server.url, name=name, max_in_flight=max_in_flight, rates=rates)
        clock = b"redis.call('TIME')"
        assert self._script.count(clock) == 1
        self._script = self._script.replace(clock, b"{string.match(redis.call('GET', 'clock'), '(%d+) (%d+)')}")
        self._digest = "0" * 40

    async def set_clock(self, now: float) -> None:
        """Set the time of all clocked states of the server."""
        await self._redis.set("clock", f"{int(now)} {round(now % 1 * 1_000_000)}")

    async def exchange_at(
        self,
        now: float,
        process: str,
        *reports: Report,
        wants: int = 0,
        listens: bool = False,
        kept: tuple[int, ...] = (),
    ) -> Reply:
        """Run the script at this time."""
        await self.set_clock(now)
        return await self.exchange(process=process, wants=wants, listens=listens, kept=kept, reports=reports)
