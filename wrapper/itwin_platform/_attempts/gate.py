"""The gate: where the tasks that share a credential wait for their turn to send."""

import asyncio
import itertools
from bisect import bisect_left, insort
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from .window import Permit, RateLimit, WaitTooLongError, Window


class RequestGate(Protocol):
    """What a gate does, for those who put another in its place, such as one shared by several processes.

    The order of one call: `ticket()` once; then for each attempt `enter(ticket)`, and exactly one of `answered`,
    `refused` and `abandoned` with the pass it gave. None of these three may wait or raise.
    """

    def ticket(self) -> int:
        """Returns a place in the order: a lower one is served first, also when it comes again."""
        ...

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Waits until a request may begin, and counts it as begun.

        Raises WaitTooLongError, at once, when a cooldown is known, or becomes known, that lasts longer than `max_wait`
        seconds or past `until`, in the event loop's time.
        """
        ...

    def cooldown_left(self) -> float:
        """Returns the seconds for which nobody may begin a request."""
        ...

    def answered(self, given: Permit) -> None:
        """An answer came, other than 429."""
        ...

    def refused(self, given: Permit, *, wait: float) -> None:
        """A 429 came: nobody may begin for `wait` seconds."""
        ...

    def abandoned(self, given: Permit) -> None:
        """No answer came, or nothing was sent."""
        ...


@dataclass(slots=True, kw_only=True)
class _Waiter:
    place: tuple[int, int]
    turn: "asyncio.Future[Permit]"
    max_wait: float
    until: float | None

    def refuses(self, *, now: float, left: float) -> bool:
        return left > self.max_wait + CLOCK_ERROR or (self.until is not None and left > 0 and now + left >= self.until)


_PLACE = attrgetter("place")
#: What adding and taking away a cooldown may leave of the clock's rounding, in seconds.
CLOCK_ERROR = 1e-6


class Gate:
    """Lets requests begin in order, as many at once as the service shows room for. Source: section 8.

    One gate serves one address and credential: give the same one to several clients of a process that share both.
    It belongs to the event loop that waits in it. Waiters are served in the order in which their calls began; a
    cancelled waiter leaves the gate as it was.

    Args:
        max_in_flight: requests under way at once, at least 1.
        rate: a steady rate, where the tier is known.

    Raises:
        UsageError: a number is out of its range.
    """

    __slots__ = ("_entries", "_tickets", "_timer", "_waiting", "_window")

    def __init__(self, max_in_flight: int = 20, rate: RateLimit | None = None) -> None:
        self._window = Window(max_in_flight=max_in_flight, rate=rate)
        self._waiting: list[_Waiter] = []
        self._tickets, self._entries = itertools.count(), itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"Gate(in_flight={self._window.in_flight}, waiting={len(self._waiting)})"

    @property
    def in_flight(self) -> int:
        """Requests that have begun and not ended."""
        return self._window.in_flight

    def ticket(self) -> int:
        """Returns the next place in the order."""
        return next(self._tickets)

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Waits until a request may begin, and counts it as begun; cancelling the wait leaves no trace.

        Args:
            ticket: the call's place in the order.
            max_wait: the longest cooldown that is waited for, in seconds.
            until: when the call's deadline is, in the event loop's time; None for no deadline.

        Raises:
            WaitTooLongError: a cooldown is known, or becomes known, that is longer than these.
        """
        loop = asyncio.get_running_loop()
        while True:
            if not self._waiting and self._window.wait(loop.time()) == 0:
                return self._window.begin(loop.time())
            place = (ticket, next(self._entries))
            given = await self._turn(_Waiter(place=place, turn=loop.create_future(), max_wait=max_wait, until=until))
            if self.cooldown_left() == 0:
                return given
            # A cooldown became known after the turn was given and before this task went on.
            self.abandoned(given)

    async def _turn(self, waiter: _Waiter) -> Permit:
        now = asyncio.get_running_loop().time()
        left = self._window.cooldown_left(now)
        if waiter.refuses(now=now, left=left):
            raise WaitTooLongError(left)
        insort(self._waiting, waiter, key=_PLACE)
        if len(self._waiting) == 1:
            self._admit()
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            index = bisect_left(self._waiting, waiter.place, key=_PLACE)
            if self._waiting[index : index + 1] == [waiter]:
                del self._waiting[index]
                self._admit()
            elif not waiter.turn.cancelled() and waiter.turn.exception() is None:
                self.abandoned(waiter.turn.result())
            raise

    def cooldown_left(self) -> float:
        """Returns the seconds for which nobody may begin a request."""
        return self._window.cooldown_left(asyncio.get_running_loop().time())

    def answered(self, given: Permit) -> None:
        """Counts an answer other than 429, and lets in who may begin now."""
        self._window.answered(given)
        self._admit()

    def refused(self, given: Permit, *, wait: float) -> None:
        """Counts a 429: nobody begins for `wait` seconds, and who cannot wait so long is turned away."""
        now = asyncio.get_running_loop().time()
        self._window.refused(given, now=now, wait=wait)
        left = self._window.cooldown_left(now)
        staying: list[_Waiter] = []
        for waiter in self._waiting:
            if not waiter.refuses(now=now, left=left):
                staying.append(waiter)
            elif not waiter.turn.cancelled():
                waiter.turn.set_exception(WaitTooLongError(left))
        self._waiting = staying
        self._admit()

    def abandoned(self, given: Permit) -> None:
        """Counts a request that ended without an answer, and lets in who may begin now."""
        self._window.end(given)
        self._admit()

    def _admit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while self._waiting:
            wait = self._window.wait(loop.time())
            if wait is None:
                return
            if wait > 0:
                self._timer = loop.call_later(wait, self._admit)
                return
            turn = self._waiting.pop(0).turn
            if not turn.cancelled():
                turn.set_result(self._window.begin(loop.time()))
