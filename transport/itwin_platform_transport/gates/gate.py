"""The gate: where the tasks that share a credential wait for permission to send."""

import asyncio
import itertools
import random
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

from ..errors import StateError, UsageError, check_integer
from .window import Permit, RateLimit, WaitTooLongError, Window

IN_USE = "the gate is in use in another event loop: make another gate here"
CLOSED = "the gate is closed: its `aclose()` was called; make another gate"
#: What adding and subtracting a cooldown may leave of the clock's rounding, in seconds.
CLOCK_ERROR = 1e-6


class Waiter(asyncio.Future[Permit]):
    """A task's wait for a permit: its position in the queue, and how long a cooldown it may wait for."""

    __slots__ = ("max_wait", "ticket", "until")

    def __init__(self, ticket: int, *, max_wait: float, until: float | None, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.ticket: int = ticket
        self.max_wait: float = max_wait + CLOCK_ERROR
        self.until: float = float("inf") if until is None else until

    def gives_up(self, *, now: float, left: float) -> bool:
        """Return whether a cooldown of `left` seconds is too long for this waiter."""
        return left > self.max_wait or (left > 0 and now + left >= self.until)


class _Heap:
    """Waiters by one of their values; those that wait no longer stay in it until they are met or too many."""

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

    def __init__(self) -> None:
        self._by_ticket, self._by_max_wait, self._by_until = _Heap(), _Heap(), _Heap()
        self._entered = 0
        #: Waiters that have not been granted a permit, failed, or been counted as cancelled.
        self.waiting: int = 0

    def add(self, waiter: Waiter) -> None:
        """Queue a waiter behind all that have its ticket or a lower one."""
        self._entered += 1
        self.waiting += 1
        self._by_ticket.push(waiter.ticket, self._entered, waiter, live=self.waiting)
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


class Gate:
    """Admits requests in order, and learns from responses how many may be in flight.

    One gate serves one address and credential: pass the same gate to all clients of a process that share both. It
    belongs to an event loop while a request of it has a permit or somebody waits in it. Calls are served in the order
    in which they began. Cancelling a waiting task leaves the gate as it was.

    Args:
        max_in_flight: requests in flight at once, at least 1.
        rate: one known rate, or an iterable of rates that all apply.
        random_number: returns jitter, from 0 to 1.

    Raises:
        UsageError: a value is of the wrong type or out of its range.
    """

    def __init__(
        self,
        max_in_flight: int = 20,
        rate: RateLimit | Iterable[RateLimit] | None = None,
        *,
        random_number: Callable[[], float] = random.random,
    ) -> None:
        check_integer("max_in_flight", max_in_flight, least=1)
        self._max_in_flight, self._rates = max_in_flight, rates_of(rate)
        self._window = Window(max_in_flight=max_in_flight, rates=self._rates)
        self._queue = WaiterQueue()
        self._tickets = itertools.count()
        self._random_number = random_number
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __repr__(self) -> str:
        rate = f"rate={list(self._rates)}, " if self._rates else ""
        return (
            f"{type(self).__name__}(max_in_flight={self._max_in_flight}, {rate}in_flight={self.in_flight}, "
            f"waiting={self._queue.waiting})"
        )

    @property
    def in_flight(self) -> int:
        """Requests that have a permit and have not ended."""
        return self._window.in_flight

    def ticket(self) -> int:
        """Return a position in the queue, kept through all attempts of a call: a lower one is served first."""
        return next(self._tickets)

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Wait for permission to send one request.

        The permit ends with exactly one of `responded`, `rate_limited`, `abandoned` and `unused`.

        Args:
            ticket: the call's position in the queue.
            max_wait: the longest cooldown to wait for, in seconds.
            until: the call's deadline, in the event loop's time; None for no deadline.

        Raises:
            WaitTooLongError: a cooldown is known, or becomes known, that is longer than these.
            StateError: the gate is closed, or in use in another event loop.
            UsageError: the server of a shared gate rejects what it was given.
        """
        while True:
            if self._closed:
                raise StateError(CLOSED)
            loop = self._used_here()
            if not self._queue.waiting and self._may_begin(loop.time()):
                return self._window.begin(loop.time())
            permit = await self._wait(Waiter(ticket, max_wait=max_wait, until=until, loop=loop), now=loop.time())
            if self._window.may_send(permit, loop.time()):
                return permit
            # A cooldown became known after the permit was granted and before this task continued.
            self.unused(permit)

    async def _wait(self, waiter: Waiter, *, now: float) -> Permit:
        left = self._window.cooldown_left(now)
        if waiter.gives_up(now=now, left=left) and self._window.wait(now) != 0:
            raise WaitTooLongError(left)
        self._queue.add(waiter)
        if self._timer is None:
            self._admit()
        try:
            return await waiter
        except BaseException:
            # It was cancelled, or its coroutine was closed by hand.
            if waiter.get_loop().is_closed():
                raise
            if waiter.cancel() or waiter.cancelled():
                self._queue.count_cancelled()
                self._admit()
            elif waiter.exception() is None:
                self.unused(waiter.result())
            raise

    def _used_here(self) -> asyncio.AbstractEventLoop:
        """Return the running loop, which the gate belongs to from now on."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._leave_loop()
            self._loop = loop
        return loop

    def _leave_loop(self) -> None:
        if self._loop is not None and not self._loop.is_closed() and (self.in_flight or self._queue.waiting):
            raise StateError(IN_USE)
        self._stop_timer()
        if self.in_flight or self._queue.waiting:
            # The loop was closed under its tasks, which end nothing any more.
            self._window.forget()
            self._queue = WaiterQueue()

    def _now(self) -> float:
        return (self._loop or asyncio.get_running_loop()).time()

    def cooldown_left(self) -> float:
        """Return the seconds in which no request may start."""
        return self._window.cooldown_left(self._now())

    def responded(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        self._window.responded(permit)
        self._ended("responded", permit)

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429: no request starts for `wait` seconds; waits that may not last so long fail."""
        now, jitter = self._now(), self._random_number()
        self._window.rate_limited(permit, now=now, wait=wait, jitter=jitter)
        self._queue.reject(now=now, left=self._window.cooldown_left(now))
        self._ended("rate_limited", permit, wait, jitter)

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response."""
        self._window.end(permit)
        self._ended("abandoned", permit)

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        self._window.unused(permit)
        self._ended("unused", permit)

    def _ended(self, kind: str, permit: Permit, *cooldown: float) -> None:
        """Let in what may start now."""
        if self._queue.waiting:
            self._admit()

    async def aclose(self) -> None:
        """End all waits with StateError; no request enters from now on. Closing twice does nothing."""
        self._used_here()
        self._closed = True
        self._stop_timer()
        self._queue.fail_all(StateError(CLOSED))

    def _may_begin(self, now: float) -> bool:
        return self._window.wait(now) == 0

    def _admit(self) -> None:
        self._stop_timer()
        loop = self._loop
        while loop is not None and not loop.is_closed() and (waiter := self._queue.first()) is not None:
            wait = self._window.wait(loop.time())
            if wait is None:
                return
            if wait > 0:
                self._timer = loop.call_later(wait, self._admit)
                return
            self._queue.grant(waiter, self._window.begin(loop.time()))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def rates_of(rate: RateLimit | Iterable[RateLimit] | None) -> tuple[RateLimit, ...]:
    """Return the rates as a tuple: for None, for one rate, or for an iterable of them."""
    if rate is None:
        return ()
    rates = tuple(rate) if isinstance(rate, Iterable) else (rate,)
    if not all(isinstance(each, RateLimit) for each in rates):
        raise UsageError(
            "rate must be a RateLimit, such as RateLimit(100, per=60), or an iterable of them", argument="rate"
        )
    return rates
