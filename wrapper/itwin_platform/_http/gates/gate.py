"""The gate: where the tasks that share a credential wait for permission to send."""

import asyncio
import itertools
import random
from collections.abc import Callable, Iterable
from typing import Protocol

from ..._errors import UsageError
from .waiters import Waiter, WaiterQueue
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


CLOSED = "the gate is closed: its `aclose()` was called; make another gate"


class Gate:
    """Admits requests in order, and learns from responses how many may be in flight. Source: section 8.

    One gate serves one address and credential: pass the same gate to all clients of a process that share both.
    It belongs to the event loop that waits in it. Calls are served in the order in which they began. Cancelling a
    waiting task leaves the gate as it was.

    Args:
        max_in_flight: requests in flight at once, at least 1.
        rate: one known rate, or an iterable of rates that all apply.
        random_number: returns jitter, from 0 to 1.

    Raises:
        UsageError: a number is out of its range.
    """

    __slots__ = ("__weakref__", "_closed", "_queue", "_random_number", "_tickets", "_timer", "_window")

    def __init__(
        self,
        max_in_flight: int = 20,
        rate: RateLimit | Iterable[RateLimit] | None = None,
        *,
        random_number: Callable[[], float] = random.random,
    ) -> None:
        self._window = Window(max_in_flight=max_in_flight, rates=rates_of(rate))
        self._queue = WaiterQueue()
        self._tickets = itertools.count()
        self._random_number = random_number
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}(in_flight={self._window.in_flight}, waiting={self._queue.waiting})"

    @property
    def in_flight(self) -> int:
        """Requests that have a permit and have not ended."""
        return self._window.in_flight

    def ticket(self) -> int:
        """Return the next position in the queue."""
        return next(self._tickets)

    async def enter(self, ticket: int, *, max_wait: float, until: float | None) -> Permit:
        """Wait for permission to send one request.

        Args:
            ticket: the call's position in the queue.
            max_wait: the longest cooldown to wait for, in seconds.
            until: the call's deadline, in the event loop's time; None for no deadline.

        Raises:
            WaitTooLongError: a cooldown is known, or becomes known, that is longer than these.
            UsageError: the gate is closed.
        """
        loop = asyncio.get_running_loop()
        while True:
            if self._closed:
                raise UsageError(CLOSED)
            if not self._queue.waiting and self._may_begin(loop.time()):
                return self._window.begin(loop.time())
            permit = await self._wait(Waiter(ticket, max_wait=max_wait, until=until, loop=loop), now=loop.time())
            if self.cooldown_left() == 0:
                return permit
            # A cooldown became known after the permit was granted and before this task continued.
            self.abandoned(permit)

    async def _wait(self, waiter: Waiter, *, now: float) -> Permit:
        left = self._window.cooldown_left(now)
        if waiter.gives_up(now=now, left=left) and self._window.wait(now) != 0:
            raise WaitTooLongError(left)
        self._queue.add(waiter)
        if self._timer is None:
            self._admit()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                self._queue.count_cancelled()
                self._admit()
            elif waiter.exception() is None:
                self.abandoned(waiter.result())
            raise

    def cooldown_left(self) -> float:
        """Return the seconds in which no request may start."""
        # In a long cooldown one request a minute probes whether it still holds: it may start.
        return 0.0 if self._window.is_probing else self._window.cooldown_left(asyncio.get_running_loop().time())

    def sending(self, permit: Permit) -> None:
        """Count the attempt against the rates: its request goes out now."""
        self._window.sending(permit, now=asyncio.get_running_loop().time())
        if self._window.has_rates and self._queue.waiting and self._timer is None:
            self._admit()  # from now on it is known when a rate has room again

    def answered(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429, and let in what may start now."""
        self._window.answered(permit)
        if self._queue.waiting:
            self._admit()

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429: no request starts for `wait` seconds; waits that may not last so long fail."""
        now = asyncio.get_running_loop().time()
        self._window.rate_limited(permit, now=now, wait=wait, jitter=self._random_number())
        self._queue.reject(now=now, left=self._window.cooldown_left(now))
        self._admit()

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response, and let in what may start now."""
        self._window.end(permit)
        self._admit()

    async def aclose(self) -> None:
        """End all waits with UsageError; no request enters from now on. Closing twice does nothing."""
        self._closed = True
        self._stop_timer()
        self._queue.fail_all(UsageError(CLOSED))

    def _may_begin(self, now: float) -> bool:
        return self._window.wait(now) == 0

    def _admit(self) -> None:
        self._stop_timer()
        loop = asyncio.get_running_loop()
        while (waiter := self._queue.first()) is not None:
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
    return (rate,) if isinstance(rate, RateLimit) else tuple(rate)
