"""Tasks that wait at a gate."""

import asyncio

from itwin_platform import Gate

from tests.support.faces import Permit


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


def enter(
    gate: Gate, *, ticket: int | None = None, max_wait: float = 60.0, until: float | None = None
) -> asyncio.Task[Permit]:
    """Wait for a permit in a task."""
    number = gate.ticket() if ticket is None else ticket
    return asyncio.create_task(gate.enter(number, max_wait=max_wait, until=until))
