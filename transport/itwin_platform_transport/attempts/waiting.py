"""Calls that wait beside the gate, without a permit, until something has changed."""

import asyncio


async def wait_for_change(waiting: set[asyncio.Future[None]], *, seconds: float) -> None:
    """Wait until somebody wakes those that wait, or the time is over."""
    changed = asyncio.get_running_loop().create_future()
    waiting.add(changed)
    try:
        await asyncio.wait([changed], timeout=seconds)
    finally:
        waiting.discard(changed)


def wake(waiting: set[asyncio.Future[None]]) -> None:
    """Wake all that wait."""
    for changed in waiting:
        changed.set_result(None)
    waiting.clear()
