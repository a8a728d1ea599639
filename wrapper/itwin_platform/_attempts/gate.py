"""The gate: where the tasks that share a credential wait for their turn to send."""

import asyncio
import itertools
from bisect import bisect_left, insort
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from .._errors import UsageError
from .window import Permit, RateLimit, WaitTooLongError, Window


class RequestGate(Protocol):
    """What the client calls before and after each attempt; implement it to share a gate in another way.

    The order within one call is: `ticket()` once, and then for each attempt `enter(ticket)`, `sending(permit)`, and
    exactly one of `answered`, `rate_limited` and `abandoned`. Only `enter` and `aclose` may wait.
    """

    def ticket(self) -> int:
        """Return a position in the queue, kept through all attempts of a call: a lower one is served first."""
        ...

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Wait for permission to send one attempt.

        Raises:
            WaitTooLongError: immediately, when a cooldown is known, or becomes known, that lasts longer than `max_wait`
                seconds or past `until`, in the event loop's time.
            UsageError: the gate is closed.
        """
        ...

    def sending(self, permit: Permit) -> None:
        """Count the attempt against the rates: its request goes out now."""
        ...

    def answered(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        ...

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429: no request starts for `wait` seconds."""
        ...

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response; without `sending` before, the permit returns as if never granted."""
        ...

    def cooldown_left(self) -> float:
        """Return the seconds in which no request may start."""
        ...

    async def aclose(self) -> None:
        """End all waits with UsageError, and release what the gate holds; `enter` raises UsageError from then on."""
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
CLOSED = "the gate is closed: its client was closed, or its `aclose()` was called"


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

    __slots__ = ("_closed", "_entries", "_tickets", "_timer", "_waiting", "_window")

    def __init__(self, max_in_flight: int = 20, rate: RateLimit | None = None) -> None:
        self._window = Window(max_in_flight=max_in_flight, rate=rate)
        self._waiting: list[_Waiter] = []
        self._tickets, self._entries = itertools.count(), itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

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
            UsageError: the gate is closed.
        """
        loop = asyncio.get_running_loop()
        while True:
            if self._closed:
                raise UsageError(CLOSED)
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

    def sending(self, permit: Permit) -> None:
        """Count the attempt against the rate: its request goes out now."""
        self._window.sending(permit, now=asyncio.get_running_loop().time())

    def answered(self, permit: Permit) -> None:
        """Counts an answer other than 429, and lets in who may begin now."""
        self._window.answered(permit)
        self._admit()

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """Counts a 429: nobody begins for `wait` seconds, and who cannot wait so long is turned away."""
        now = asyncio.get_running_loop().time()
        self._window.rate_limited(permit, now=now, wait=wait)
        left = self._window.cooldown_left(now)
        staying: list[_Waiter] = []
        for waiter in self._waiting:
            if not waiter.refuses(now=now, left=left):
                staying.append(waiter)
            elif not waiter.turn.cancelled():
                waiter.turn.set_exception(WaitTooLongError(left))
        self._waiting = staying
        self._admit()

    def abandoned(self, permit: Permit) -> None:
        """Counts a request that ended without an answer, and lets in who may begin now."""
        self._window.end(permit)
        self._admit()

    async def aclose(self) -> None:
        """End all waits with UsageError; nobody enters from now on, and closing twice does nothing."""
        self._closed = True
        self._stop_timer()
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.turn.done():
                waiter.turn.set_exception(UsageError(CLOSED))

    def _admit(self) -> None:
        self._stop_timer()
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

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
