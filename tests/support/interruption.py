"""Cancelling a call at any iteration of the event loop, and so at each of its awaits."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.support.virtual_time import VirtualTimeLoop


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts its turns, and does something at the beginning of one of them."""

    turns = 0
    _at = -1
    _action: Callable[[], object] = lambda: None

    def at_turn(self, turn: int, action: Callable[[], object]) -> None:
        """Schedule an action for the start of a later iteration."""
        self._at, self._action = self.turns + turn, action

    def _run_once(self) -> None:
        self.turns += 1
        if self.turns == self._at:
            self._action()
        super()._run_once()  # type: ignore[misc]  # one iteration of the loop


class CountingVirtualLoop(CountingLoop, VirtualTimeLoop):
    """The same in virtual time."""


async def cancelled_at_turn(work: Coroutine[Any, Any, object], *, turn: int) -> bool:
    """Cancel the task of a coroutine after some iterations, and return whether it was running then."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    task = asyncio.create_task(work)
    hit = False

    def cancel() -> None:
        nonlocal hit
        hit = task.cancel()

    loop.at_turn(turn, cancel)
    await asyncio.wait([task])
    # A cancelled call must not treat the cancellation as a lost response and retry.
    assert task.cancelled() is hit
    if not hit:
        task.result()
    return hit
