"""Event loops for tests: one with virtual time, and one that cancels a call in a given iteration."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):
    """A selector that returns immediately, and adds the seconds of the wait to its clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("all tasks wait, and no timer will wake them")
        self.now += max(0.0, timeout)
        found: Sequence[tuple[selectors.SelectorKey, int]] = super().select(0)
        return list(found)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer when nothing else can run. For code without sockets and threads."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._jump.now

    def be_busy(self, seconds: float) -> None:
        """Let time pass in which the loop handles no event."""
        self._jump.now += seconds


def in_virtual_time(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine to its end in a new loop with virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts its iterations, and calls a function at the start of one of them."""

    turns = 0
    _at = -1
    _action: Callable[[], object] = lambda: None

    def at_turn(self, turn: int, action: Callable[[], object]) -> None:
        """Call a function at the start of a later iteration."""
        self._at, self._action = self.turns + turn, action

    def _run_once(self) -> None:
        self.turns += 1
        if self.turns == self._at:
            self._action()
        super()._run_once()  # type: ignore[misc]  # one iteration of the loop


class CountingVirtualLoop(CountingLoop, VirtualTimeLoop):
    """A counting loop with virtual time."""


async def cancelled_at_turn(work: Coroutine[Any, Any, object], *, turn: int) -> bool:
    """Cancel the task of a coroutine after some iterations, and return whether it was running then."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    task = asyncio.create_task(work)
    hit = False

    def cancel() -> None:
        nonlocal hit
        hit = task.cancel("planted")

    loop.at_turn(turn, cancel)
    await asyncio.wait([task])
    # A cancelled call must not treat the cancellation as a lost response and retry.
    with pytest.raises(asyncio.CancelledError, match="planted") if hit else nullcontext():
        task.result()
    return hit
