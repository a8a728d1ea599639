"""Gates on a real Redis server, each of which stands for a process of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from itwin_platform import RateLimit, RedisGate

from tests.support.faces import Permit, RedisState, Reply, Report
from tests.support.real_time import until
from tests.support.redis_server import RedisServer, server_program

needs_redis = [
    pytest.mark.skipif(server_program() is None, reason="no Redis server is installed"),
    pytest.mark.usefixtures("patient_gates"),
]


@asynccontextmanager
async def gates(url: str, count: int = 2, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """Open as many gates of one name, and check that none leaves a task behind."""
    opened = [RedisGate(url, name="test, app 7", **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        # A subscription that was cancelled closes its connection before it ends.
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})


async def enter(gate: RedisGate, *, max_wait: float = 60.0) -> Permit:
    """Wait for a permit."""
    return await gate.enter(gate.ticket(), max_wait=max_wait, until=None)


async def until_queued(server: RedisServer, processes: int = 1) -> None:
    """Wait until so many processes are in the queue of the server: each is sent the next free permit."""
    with server.client as client:
        await until(lambda: client.zcard("itwin-gate:{test, app 7}:queue") == processes)


def set_clock(server: RedisServer, seconds: float) -> None:
    """Set the time of all clocked gates of a server, in seconds since a day of the past."""
    with server.client as client:
        client.set("clock", f"{1_700_000_000 + int(seconds)} 0")


def clocked_gate(server: RedisServer, *, max_in_flight: int) -> RedisGate:
    """Return a gate whose server has the time of `set_clock`."""
    gate = RedisGate(server.url, name="test, app 7", max_in_flight=max_in_flight)
    gate._state = ClockedState(server.url, name="test, app 7", max_in_flight=max_in_flight)
    return gate


class ClockedState(RedisState):
    """The state with a script that reads its time from a key, which is set before an exchange."""

    def __init__(self, url: str, *, name: str, max_in_flight: int, rates: tuple[RateLimit, ...] = ()) -> None:
        super().__init__(url, name=name, max_in_flight=max_in_flight, rates=rates)
        clock = b"redis.call('TIME')"
        assert self._script.count(clock) == 1
        self._script = self._script.replace(clock, b"{string.match(redis.call('GET', 'clock'), '(%d+) (%d+)')}")
        self._digest = "0" * 40

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
        await self._redis.set("clock", f"{int(now)} {round(now % 1 * 1_000_000)}")
        return await self.exchange(process=process, wants=wants, listens=listens, kept=kept, reports=reports)
