"""Gates, and tasks that wait for their permits."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from itwin_platform_transport import Gate, RedisGate
from itwin_platform_transport.gates.window import Permit

from tests.support.real_time import until
from tests.support.redis_server import RedisServer, needs_a_server


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hold(gate: Gate, *, ticket: int | None = None, **limits: Any) -> Permit:
    """Wait for a permit."""
    position = gate.ticket() if ticket is None else ticket
    return await gate.enter(position, **{"max_wait": 60.0, "until": None, **limits})


def enter(gate: Gate, **options: Any) -> asyncio.Task[Permit]:
    """Wait for a permit in a task."""
    return asyncio.create_task(hold(gate, **options))


async def end(tasks: Iterable[asyncio.Task[Permit]]) -> None:
    """Cancel the tasks that still wait."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


NAME = "test, app 7"

needs_redis = [needs_a_server, pytest.mark.usefixtures("patient_gates")]


@asynccontextmanager
async def gates(url: str, count: int = 2, *, name: str = NAME, **options: Any) -> AsyncIterator[list[RedisGate]]:
    """Open gates of one name, and check at the end that no task is left."""
    opened = [RedisGate(url, name=name, **options) for _ in range(count)]
    try:
        yield opened
    finally:
        for gate in opened:
            await gate.aclose()
        # A subscription that was cancelled closes its connection before it ends.
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})


async def until_queued(server: RedisServer, processes: int = 1, *, name: str = NAME) -> None:
    """Wait until this many processes are in the queue of the server."""
    with server.client as client:
        await until(lambda: client.zcard(f"itwin-gate:{{{name}}}:queue") == processes)


async def until_subscribed(server: RedisServer, processes: int = 1, *, name: str = NAME) -> None:
    """Wait until this many processes are in the queue and listen for a wake-up."""
    await until_queued(server, processes, name=name)
    with server.client as client:
        await until(lambda: len(client.pubsub_channels("itwin-gate:*")) == processes)


async def until_idle() -> None:
    """Wait until the gates have reported everything, and run no task."""
    await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})
