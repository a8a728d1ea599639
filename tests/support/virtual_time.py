"""An event loop with virtual time: it passes only while all tasks wait, so sleeps and timeouts cost nothing."""

import asyncio
import selectors
from collections.abc import Coroutine, Sequence
from typing import TypeVar

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):
    """Returns immediately, and adds the seconds that the loop would have waited."""

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
    """Jumps to the next timer as soon as nothing else can run; for code that opens no sockets and starts no threads."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._jump.now

    def be_busy(self, seconds: float) -> None:
        """Let time pass in which the loop looks at nothing."""
        self._jump.now += seconds


def in_virtual_time(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine to its end in a loop of its own."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
