"""Who is next at a gate: first in, first out, unless an operation has its share of the permits."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from heapq import heapify, heappop, heappush

from .window import Permit, WaitTooLongError

#: While another operation was called within so many seconds, an operation has at most this share of the permits that
#: the others do not have: one that hangs must not take all.
LATELY, LARGEST_SHARE = 30.0, 0.75
#: The operation that was rate limited last comes after the others for so many seconds: the limit may be its own.
OTHERS_FIRST = 5.0
#: What adding and subtracting a cooldown may leave of the clock's rounding, in seconds.
CLOCK_ERROR = 1e-6


class Waiter(asyncio.Future[Permit]):
    """A task's wait for a permit: its position in the queue, its operation, and how long a cooldown it may wait for."""

    __slots__ = ("max_wait", "operation", "ticket", "until")

    def __init__(self, ticket: int, *, operation: Hashable, max_wait: float, until: float | None) -> None:
        super().__init__()
        self.ticket: int = ticket
        self.operation: Hashable = operation
        self.max_wait: float = max_wait + CLOCK_ERROR
        self.until: float = float("inf") if until is None else until

    def gives_up(self, *, now: float, left: float) -> bool:
        """Return whether a cooldown of `left` seconds is too long for this waiter."""
        return left > self.max_wait or (left > 0 and now + left >= self.until)


class Queue:
    """Waiters by operation and ticket, and which operations have the permits that are out.

    Args:
        most: permits in all.
    """

    def __init__(self, *, most: float) -> None:
        self._most = most
        self._waiters: dict[Hashable, list[tuple[int, int, Waiter]]] = {}
        self._entries = itertools.count()
        #: The operation of each permit that is out, how many each has, and when each was called last.
        self._holders: dict[Permit, Hashable] = {}
        self._held: Counter[Hashable] = Counter()
        self._called_at: dict[Hashable, float] = {}
        self._limited: tuple[Hashable, float] = (None, float("-inf"))
        #: Waiters that have neither a permit nor an error, and are not cancelled.
        self.waiting: int = 0

    def called(self, operation: Hashable, *, now: float) -> None:
        """Note a call."""
        self._called_at[operation] = now

    def serves_others(self, operation: Hashable, *, now: float) -> bool:
        """Return whether another operation was called lately."""
        return any(each != operation and at >= now - LATELY for each, at in self._called_at.items())

    def has_room(self, operation: Hashable, *, now: float) -> bool:
        """Return whether an operation may have another permit."""
        held = self._held[operation]
        share = LARGEST_SHARE * (self._most - len(self._holders) + held)
        return held == 0 or held + 1 <= share or not self.serves_others(operation, now=now)

    def add(self, waiter: Waiter) -> None:
        """Queue a waiter behind all that have its ticket or a lower one."""
        self.waiting += 1
        heap = self._waiters.setdefault(waiter.operation, [])
        heappush(heap, (waiter.ticket, next(self._entries), waiter))
        if len(heap) > 2 * self.waiting + 64:  # most of them were cancelled
            heap[:] = [entry for entry in heap if not entry[2].done()]
            heapify(heap)

    def left(self) -> None:
        """Note that a waiter was cancelled."""
        self.waiting -= 1

    def first(self, now: float, may_start: Callable[[Hashable], bool] = lambda _: True) -> Waiter | None:
        """Return the waiter whose turn it is; None when nobody waits who may have another permit."""
        limited, until = self._limited
        found = (each for each in self.heads() if may_start(each.operation) and self.has_room(each.operation, now=now))
        return min(found, key=lambda each: (now < until and each.operation == limited, each.ticket), default=None)

    def heads(self) -> Iterator[Waiter]:
        """Return the first waiter of each operation."""
        for operation, heap in list(self._waiters.items()):
            while heap and heap[0][2].done():
                heappop(heap)
            if heap:
                yield heap[0][2]
            else:
                del self._waiters[operation]

    def grant(self, waiter: Waiter, permit: Permit) -> None:
        """Give a permit to a waiter."""
        self.waiting -= 1
        waiter.set_result(permit)

    def count(self, may_start: Callable[[Hashable], bool]) -> int:
        """Return how many wait whose operation may start."""
        return sum(len(self._of(operation)) for operation in self._waiters if may_start(operation))

    def hold(self, permit: Permit, operation: Hashable) -> None:
        """Note whose operation a permit is."""
        self._holders[permit] = operation
        self._held[operation] += 1

    def operation_of(self, permit: Permit) -> Hashable:
        """Return the operation of a permit that is out."""
        return self._holders.get(permit)

    def ended(self, permit: Permit) -> bool:
        """Forget a permit; return False if it had ended before."""
        is_out = permit in self._holders
        if is_out:
            self._held[self._holders.pop(permit)] -= 1
        return is_out

    def forget(self) -> None:
        """Forget who waits and what is out: nothing will end it."""
        self._waiters.clear()
        self._holders.clear()
        self._held.clear()
        self.waiting = 0

    def limited(self, operation: Hashable, *, until: float) -> None:
        """Let the operation that was rate limited come after the others until then."""
        self._limited = operation, until + OTHERS_FIRST

    def reject(self, left: Callable[[Hashable], float], *, now: float) -> None:
        """End the waits that the cooldown of their operation is too long for."""
        for operation in self._waiters:
            seconds = left(operation)
            for waiter in self._of(operation):
                if waiter.gives_up(now=now, left=seconds):
                    self._fail(waiter, WaitTooLongError(seconds))

    def fail_all(self, error: Exception) -> None:
        """End all waits."""
        for operation in self._waiters:
            for waiter in self._of(operation):
                self._fail(waiter, error)

    def _of(self, operation: Hashable) -> list[Waiter]:
        return [waiter for *_, waiter in self._waiters[operation] if not waiter.done()]

    def _fail(self, waiter: Waiter, error: Exception) -> None:
        self.waiting -= 1
        waiter.set_exception(error)
