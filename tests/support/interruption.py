"""Cancelling a call at any turn of the event loop, so at every one of its awaits and of those beneath it."""

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
        """Plan an action for the beginning of a turn, in so many from now."""
        self._at, self._action = self.turns + turn, action

    def _run_once(self) -> None:
        self.turns += 1
        if self.turns == self._at:
            self._action()
        super()._run_once()  # type: ignore[misc]  # one turn of the loop


class CountingVirtualLoop(CountingLoop, VirtualTimeLoop):
    """The same in virtual time."""


async def cancelled_at_turn(work: Coroutine[Any, Any, object], *, turn: int) -> bool:
    """Run a coroutine in a task that is cancelled so many turns later, and tell whether it was under way then."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    task = asyncio.create_task(work)
    hit = False

    def cancel() -> None:
        nonlocal hit
        hit = task.cancel()

    loop.at_turn(turn, cancel)
    await asyncio.wait([task])
    # What is cancelled is cancelled: it must not be taken for a lost response and go on.
    assert task.cancelled() is hit
    if not hit:
        task.result()
    return hit
