"""The queue of a gate: first in, first out, except for an operation that holds its share of the permits."""

import asyncio
import math
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from .window import Permit, WaitTooLongError

#: Seconds after its last call in which an operation counts as in use.
IN_USE_FOR = 30.0
#: Largest share of the permits that others do not hold, for one operation while others are in use: one that hangs must
#: not take all permits.
LARGEST_SHARE = 0.75
#: After a cooldown, the operation of the last 429 is served last for this many seconds. If others succeed meanwhile,
#: the limit is its own.
OTHERS_FIRST = 5.0
#: Rounding that may be left when a cooldown is added to the clock and subtracted again, in seconds.
CLOCK_ERROR = 1e-6


@dataclass(slots=True, eq=False)
class Waiter:
    """A task's wait for a permit, with its limits.

    Args:
        future: what the task awaits; its result is the permit.
        ticket: its position in the queue.
        operation: the operation of its request.
        max_wait: the longest cooldown to wait for, in seconds.
        until: when the call ends, in the event loop's time; None for no limit.
        since: when the call began to wait.
        deadline: the seconds of its deadline, which count from `since` while only 429s come; None for none.
    """

    future: Final[asyncio.Future[Permit]]
    ticket: Final[int]
    operation: Final[Hashable]
    max_wait: Final[float]
    until: Final[float | None]
    since: Final[float]
    deadline: Final[float | None]

    def gives_up(self, *, now: float, left: float, rejecting_since: float = math.inf) -> bool:
        """Return whether a cooldown of `left` seconds is too long for this waiter.

        Args:
            now: the event loop's time.
            left: how long the cooldown lasts.
            rejecting_since: since when only 429s have come: from then on its time in the queue counts.
        """
        is_over = self.deadline is not None and now + left >= max(self.since, rejecting_since) + self.deadline
        is_late = self.until is not None and left > 0 and now + left >= self.until
        return is_over or is_late or left > self.max_wait + CLOCK_ERROR


class Queue:
    """Waiters by operation and ticket, and how many permits each operation holds.

    Args:
        most: permits in all.
    """

    def __init__(self, *, most: float) -> None:
        self._most = most
        self._waiters: defaultdict[Hashable, deque[Waiter]] = defaultdict(deque)
        #: How many permits each operation holds, and when each was called last.
        self.held: defaultdict[Hashable, int] = defaultdict(int)
        self.called_at: dict[Hashable, float] = {}
        #: The operation of the last 429, and until when it comes after the others.
        self._limited: tuple[Hashable, float] = (None, -math.inf)
        #: How many waiters have neither a permit nor an error, and are not cancelled.
        self.waiting: int = 0

    def serves_others(self, operation: Hashable, *, now: float) -> bool:
        """Return whether another operation is in use."""
        return any(other != operation and at >= now - IN_USE_FOR for other, at in self.called_at.items())

    def has_share_left(self, operation: Hashable, *, now: float) -> bool:
        """Return whether an operation may have another permit."""
        if len(self.called_at) == 1 or not (held := self.held[operation]):
            return True
        share = LARGEST_SHARE * (self._most - sum(self.held.values()) + held)
        return held + 1 <= share or not self.serves_others(operation, now=now)

    def add(self, waiter: Waiter) -> None:
        """Queue a waiter behind all that have its ticket or a lower one."""
        self.waiting += 1
        waiters = self._waiters[waiter.operation]
        if waiters and waiter.ticket < waiters[-1].ticket:
            insort(waiters, waiter, key=attrgetter("ticket"))  # a retry
        else:
            waiters.append(waiter)
        if len(waiters) > 2 * self.waiting + 64:  # most of them were cancelled
            self._waiters[waiter.operation] = deque(self._waiting_of(waiter.operation))

    def first(self, *waiters: Waiter, now: float) -> Waiter:
        """Return the waiter to serve first."""
        limited, until = self._limited
        return min(waiters, key=lambda waiter: (now < until and waiter.operation == limited, waiter.ticket))

    def heads(self) -> list[Waiter]:
        """Return the first waiter of each operation."""
        heads = []
        for operation, waiters in [*self._waiters.items()]:
            while waiters and waiters[0].future.done():
                waiters.popleft()
            if waiters:
                heads.append(waiters[0])
            else:
                del self._waiters[operation]
        return heads

    def grant(self, waiter: Waiter, permit: Permit) -> None:
        """Give a permit to a waiter."""
        self.waiting -= 1
        waiter.future.set_result(permit)

    def count(self, may_start: Callable[[Hashable], bool]) -> int:
        """Return how many waiters belong to an operation that may start."""
        return sum(len(self._waiting_of(operation)) for operation in self._waiters if may_start(operation))

    def forget(self) -> None:
        """Drop the waiters and the counts of permits: their event loop was closed."""
        self._waiters.clear()
        self.held.clear()
        self.waiting = 0

    def limited(self, operation: Hashable, *, until: float) -> None:
        """Let the operation of a 429 come after the others for a while, when its cooldown is over."""
        self._limited = operation, until + OTHERS_FIRST

    def reject(
        self, *, now: float, left: Callable[[Hashable], float], rejecting_since: Callable[[Hashable], float]
    ) -> None:
        """End the waits that the cooldown of their operation, of `left` seconds, is too long for."""
        for operation in self._waiters:
            seconds, since = left(operation), rejecting_since(operation)
            for waiter in self._waiting_of(operation):
                if waiter.gives_up(now=now, left=seconds, rejecting_since=since):
                    self.fail(waiter, WaitTooLongError(seconds))

    def fail_all(self, error: Exception) -> None:
        """End all waits."""
        for operation in self._waiters:
            for waiter in self._waiting_of(operation):
                self.fail(waiter, error)

    def _waiting_of(self, operation: Hashable) -> list[Waiter]:
        return [waiter for waiter in self._waiters[operation] if not waiter.future.done()]

    def fail(self, waiter: Waiter, error: Exception) -> None:
        """End a wait with an error."""
        self.waiting -= 1
        waiter.future.set_exception(error)
