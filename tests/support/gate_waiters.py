"""Tasks that wait at a gate."""

import asyncio
from collections.abc import Iterable

from itwin_platform import Gate

from tests.support.faces import Permit


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hold(gate: Gate, *, ticket: int | None = None, max_wait: float = 60.0, until: float | None = None) -> Permit:
    """Wait for a permit."""
    return await gate.enter(gate.ticket() if ticket is None else ticket, max_wait=max_wait, until=until)


def enter(
    gate: Gate, *, ticket: int | None = None, max_wait: float = 60.0, until: float | None = None
) -> asyncio.Task[Permit]:
    """Wait for a permit in a task."""
    return asyncio.create_task(hold(gate, ticket=ticket, max_wait=max_wait, until=until))


async def end(tasks: Iterable[asyncio.Task[Permit]]) -> None:
    """Cancel what still waits."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
