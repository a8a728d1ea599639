"""Cancel work on the network so that it gives its connection back."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class _Ended(asyncio.Future[T]):
    """The end of some work in a task of its own; to cancel it cancels the work, and then waits for that end."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        super().__init__()
        self._scope = anyio.CancelScope()
        self._is_cancelled = False
        self._task = asyncio.create_task(self._run(work))
        self._task.add_done_callback(self._follow)

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._scope:
            return await work
        raise asyncio.CancelledError

    def cancel(self, msg: object = None) -> bool:
        if self.done():
            return False
        self._is_cancelled = True
        # Not at once: who runs a loop cancels what is left in it after it has stopped, and a scope needs a running one.
        self.get_loop().call_soon(self._scope.cancel)
        return True

    def _follow(self, task: "asyncio.Task[T]") -> None:
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or self._is_cancelled:
            super().cancel()
        elif error is not None:
            self.set_exception(error)
        else:
            self.set_result(task.result())


async def cancelled_in_order(work: Coroutine[Any, Any, T]) -> T:
    """Run work so that it ends in order when the waiting task is cancelled, and return only after that.

    httpx's connections tidy up behind shields of anyio, which `Task.cancel` breaks through: a connection that is hit
    there stays open and busy for ever. A scope of anyio is what those shields hold off.
    """
    return await _Ended(work)
