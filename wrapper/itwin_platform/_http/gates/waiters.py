"""The queue of tasks that wait at a gate: nothing in it takes longer than O(log n), however many leave early."""

import asyncio
from heapq import heapify, heappop, heappush

from .window import Permit, WaitTooLongError

#: What adding and subtracting a cooldown may leave of the clock's rounding, in seconds.
CLOCK_ERROR = 1e-6


class Waiter(asyncio.Future[Permit]):
    """A task's wait for a permit: its position in the queue, and how long a cooldown it may wait for."""

    __slots__ = ("max_wait", "ticket", "until")

    def __init__(self, ticket: int, *, max_wait: float, until: float | None, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.ticket = ticket
        self.max_wait = max_wait + CLOCK_ERROR
        self.until = float("inf") if until is None else until

    def gives_up(self, *, now: float, left: float) -> bool:
        """Return whether a cooldown of `left` seconds is too long for this waiter."""
        return left > self.max_wait or (left > 0 and now + left >= self.until)


class _Heap:
    """Waiters by one of their values; those that wait no longer stay in it until they are met or too many."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Waiter]] = []

    def push(self, value: float, entry: int, waiter: Waiter, *, live: int) -> None:
        heappush(self._entries, (value, entry, waiter))
        if len(self._entries) > 2 * live + 64:
            self._entries = [each for each in self._entries if not each[2].done()]
            heapify(self._entries)

    def first(self) -> Waiter | None:
        while self._entries and self._entries[0][2].done():
            heappop(self._entries)
        return self._entries[0][2] if self._entries else None


class WaiterQueue:
    """Waiters, first in first out by ticket."""

    __slots__ = ("_by_max_wait", "_by_ticket", "_by_until", "_entered", "waiting")

    def __init__(self) -> None:
        self._by_ticket, self._by_max_wait, self._by_until = _Heap(), _Heap(), _Heap()
        self._entered = 0
        #: Waiters that have not been granted a permit, failed, or been counted as cancelled.
        self.waiting = 0

    def add(self, waiter: Waiter) -> None:
        """Queue a waiter behind all that have its ticket or a lower one."""
        self._entered += 1
        self.waiting += 1
        self._by_ticket.push(waiter.ticket, self._entered, waiter, live=self.waiting)
        if waiter.max_wait < float("inf"):
            self._by_max_wait.push(waiter.max_wait, self._entered, waiter, live=self.waiting)
        if waiter.until < float("inf"):
            self._by_until.push(waiter.until, self._entered, waiter, live=self.waiting)

    def first(self) -> Waiter | None:
        """Return the waiter whose turn it is; None when nobody waits."""
        return self._by_ticket.first()

    def grant(self, waiter: Waiter, permit: Permit) -> None:
        """Give a permit to a waiter."""
        self.waiting -= 1
        waiter.set_result(permit)

    def count_cancelled(self) -> None:
        """Count a waiter that was cancelled."""
        self.waiting -= 1

    def reject(self, *, now: float, left: float) -> None:
        """End the waits that a cooldown of `left` seconds is too long for."""
        for heap in (self._by_max_wait, self._by_until):
            while (waiter := heap.first()) is not None and waiter.gives_up(now=now, left=left):
                self._fail(waiter, WaitTooLongError(left))

    def fail_all(self, error: Exception) -> None:
        """End all waits."""
        while (waiter := self.first()) is not None:
            self._fail(waiter, error)

    def _fail(self, waiter: Waiter, error: Exception) -> None:
        self.waiting -= 1
        waiter.set_exception(error)
