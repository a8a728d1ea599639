"""Cancelling a call at the n-th of its awaits, as somebody else's `task.cancel()` would."""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def _counted(work: Coroutine[Any, Any, T], suspended: Callable[[], None]) -> Generator[Any, Any, T]:
    """Passes on what a coroutine waits for, and tells of each time that it does."""
    step: Callable[[], Any] = lambda: work.send(None)  # noqa: E731  # the next step, which changes
    while True:
        try:
            awaited = step()
        except StopIteration as ended:
            result: T = ended.value
            return result
        suspended()
        try:
            sent = yield awaited
        except BaseException as error:  # noqa: BLE001  # it is thrown into the coroutine
            thrown = error
            step = lambda: work.throw(thrown)  # noqa: B023, E731  # it is called before the next round
        else:
            step = lambda: work.send(sent)  # noqa: B023, E731  # it is called before the next round


async def cancelled_at(work: Coroutine[Any, Any, T], *, await_number: int, turns_later: int) -> bool:
    """Runs a coroutine in a task that is cancelled at an await, or so many turns of the event loop after it began.

    Returns:
        Whether it had so many awaits.
    """
    loop = asyncio.get_running_loop()
    count = 0

    def cancel(turns: int) -> None:
        if turns:
            loop.call_soon(cancel, turns - 1)
        else:
            task.cancel()

    def suspended() -> None:
        nonlocal count
        count += 1
        if count == await_number:
            cancel(turns_later)

    async def run() -> T:
        return await _counted(work, suspended)

    task = asyncio.create_task(run())
    await asyncio.wait([task])
    # Cancelled with its last await already over, it may have ended well.
    if not task.cancelled():
        task.result()
    return count >= await_number
