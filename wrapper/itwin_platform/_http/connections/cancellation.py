"""Cancel work on the network so that it gives its connection back."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def cancelled_in_order(work: Coroutine[Any, Any, T]) -> T:
    """Run work so that it ends in order when the waiting task is cancelled, and return only after that.

    httpx's connections tidy up behind shields of anyio, which `Task.cancel` breaks through: a connection that is hit
    there stays open and busy for ever. A scope of anyio is what those shields hold off.
    """
    scope = anyio.CancelScope()

    async def run() -> T:
        with scope:
            return await work
        raise asyncio.CancelledError

    task = asyncio.create_task(run())
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = error
            scope.cancel()
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        # asyncio reports an error that nobody has asked for.
        task.exception()
    raise cancellation
