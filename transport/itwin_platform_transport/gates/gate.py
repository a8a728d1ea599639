"""The gate: where the tasks that share a credential wait for permission to send."""

import asyncio
import itertools
import math
import random
from collections.abc import Callable, Hashable, Iterable
from typing import Literal

from ..errors import StateError, UsageError, check_integer
from .breaker import Breakers
from .operations import OperationLimits
from .queue import Queue, Waiter
from .window import Permit, RateLimit, TooManyRequests, WaitTooLongError, Window

CLOSED = "the gate is closed: its `aclose()` was called; make another gate"
#: The four ends of a permit.
Ending = Literal["responded", "rate_limited", "abandoned", "unused"]


class Gate:
    """Admits requests in order, and learns from responses how many may be in flight.

    One gate serves one address and credential: pass the same gate to all clients of a process that share both. It
    belongs to an event loop while one of its requests has a permit or a call waits in it. Calls are served in the order
    in which they began. But while other operations are in use, an operation has at most three quarters of the permits
    that the others do not hold. Cancelling a waiting task leaves the gate as it was.

    Args:
        max_in_flight: requests in flight at once, at least 1.
        rate: one known rate, or an iterable of rates that all apply.
        random_number: returns jitter, from 0 to 1; for tests.

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
        max_in_flight = check_integer("max_in_flight", max_in_flight, least=1)
        self._max_in_flight, self._rates, self._random_number = max_in_flight, rates_of(rate), random_number
        self._window = Window(max_in_flight=max_in_flight, rates=self._rates)
        self._operations = OperationLimits(max_in_flight=max_in_flight)
        self._queue = Queue(most=max_in_flight)
        #: The permits that have not ended, each with its operation and with the window that this operation had then.
        self._granted: dict[Permit, tuple[Hashable, Window | None]] = {}
        #: The circuit breakers of operations and paths that have failed since their last success: almost always none.
        self.breakers: Breakers = Breakers()
        self._tickets = itertools.count()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __repr__(self) -> str:
        rate = f"rate={list(self._rates)}, " if self._rates else ""
        return (
            f"{type(self).__name__}(max_in_flight={self._max_in_flight}, {rate}in_flight={self.in_flight}, "
            f"waiting={self.waiting})"
        )

    @property
    def in_flight(self) -> int:
        """Requests that have a permit and have not ended."""
        return self._window.slow_start.in_flight

    @property
    def waiting(self) -> int:
        """Calls that wait for a permit."""
        return self._queue.waiting

    def ticket(self) -> int:
        """Return a position in the queue, kept through all attempts of a call: a lower one is served first."""
        return next(self._tickets)

    async def enter(
        self,
        ticket: int,
        *,
        max_wait: float,
        until: float | None,
        deadline: float | None = None,
        operation: Hashable = None,
    ) -> Permit:
        """Wait for permission to send one request.

        The permit ends with the first of `responded`, `rate_limited`, `abandoned` and `unused`; a second one does
        nothing.

        Args:
            ticket: the call's position in the queue.
            max_wait: the longest cooldown to wait for, in seconds.
            until: when the queue timeout or the deadline ends the call, in the event loop's time; None for no limit.
            deadline: the seconds of the deadline; None for none. While only 429s come, they count from the first of
                these 429s, or from now if that is later.
            operation: the operation of the request.

        Raises:
            WaitTooLongError: a cooldown is known, or becomes known, that is longer than these limits allow.
            StateError: the gate is closed, or in use in another event loop.
            UsageError: the server of a shared gate rejects its configuration.
        """
        since = None
        while True:
            if self._closed:
                raise StateError(CLOSED)
            loop = self._used_here()
            now = loop.time()
            since = now if since is None else since
            self._queue.called_at[operation] = now
            if not self._queue.waiting and (granted := self._begin_at_once(operation, now)) is not None:
                return granted
            waiter = Waiter(loop.create_future(), ticket, operation, max_wait, until, since, deadline)
            self._add(waiter, now=now)
            try:
                permit = await waiter.future
            except BaseException:
                # The task was cancelled, or its coroutine was closed.
                self._leave(waiter)
                raise
            if self._window.cooldown.allows(permit):
                return permit
            # A cooldown became known after the permit was granted and before this task continued.
            self.unused(permit)

    def _add(self, waiter: Waiter, *, now: float) -> None:
        if self._window.cooldown.until > now or self._operations.windows:
            left = self.cooldown_left(waiter.operation)
            if left and waiter.gives_up(now=now, left=left) and self._next_start(waiter.operation, now) != 0:
                raise WaitTooLongError(left)
        self._queue.add(waiter)
        if self._timer is None or self._operations.windows:
            self._admit()

    def _leave(self, waiter: Waiter) -> None:
        future = waiter.future
        if future.get_loop().is_closed():
            return
        if future.cancel() or future.cancelled():
            self._queue.waiting -= 1
            self._admit()
        elif future.exception() is None:
            self.unused(future.result())

    def _used_here(self) -> asyncio.AbstractEventLoop:
        """Return the running event loop, to which the gate belongs from now on."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._leave_loop()
            self._loop = loop
        return loop

    @property
    def _is_in_use(self) -> bool:
        return self.in_flight > 0 or self._queue.waiting > 0

    def _leave_loop(self) -> None:
        if self._loop is not None and not self._loop.is_closed() and self._is_in_use:
            raise StateError("the gate is in use in another event loop: make another gate here")
        self._stop_timer()
        self.breakers.clear()
        if self._is_in_use:
            # The event loop was closed while its tasks had permits, so these permits will not end.
            self._granted.clear()
            self._window.slow_start.forget()
            self._queue.forget()
            self._operations.windows.clear()

    def _now(self) -> float:
        return (self._loop or asyncio.get_running_loop()).time()

    def cooldown_left(self, operation: Hashable = None) -> float:
        """Return the seconds until the cooldowns of the gate and of an operation have ended."""
        now = self._now()
        return max([window.cooldown.left(now) for window in self._windows(operation)])

    def last_429(self, operation: Hashable) -> object:
        """Return the record of the 429 that an operation waits for; None if another process received it."""
        now = self._now()
        return max(self._windows(operation), key=lambda window: window.cooldown.left(now)).last_429

    def rejecting_since(self, operation: Hashable) -> float:
        """Return since when only 429s have come for an operation; infinity if the last response was another one."""
        since, operation_window = self._window.cooldown.rejecting_since, self._operations.windows.get(operation)
        return since if operation_window is None else min(since, operation_window.cooldown.rejecting_since)

    def _windows(self, operation: Hashable) -> list[Window]:
        operation_window = self._operations.windows.get(operation)
        return [self._window] if operation_window is None else [operation_window, self._window]

    def responded(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        self._take_back(permit, "responded", Window.responded)

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response."""
        self._take_back(permit, "abandoned", Window.abandoned)

    def unused(self, permit: Permit) -> None:
        """Return a permit that was not used, as if it had never been granted."""
        self._take_back(permit, "unused", Window.unused)

    def _take_back(self, permit: Permit, ending: Ending, end: Callable[[Window, Permit], None]) -> None:
        if (grant := self._granted.pop(permit, None)) is None:
            return
        operation, operation_window = grant
        end(self._window, permit)
        if operation_window is not None:
            end(operation_window, permit)
        self._queue.held[operation] -= 1
        if ending == "responded":
            self._operations.responded(operation)
        self._ended(ending, permit)

    def rate_limited(self, permit: Permit, *, wait: float, is_named: bool = False, record: object = None) -> None:
        """End an attempt that got a 429: no request starts for `wait` seconds. Calls with a shorter `max_wait` fail.

        Args:
            permit: the permit of the attempt.
            wait: the delay before a retry, in seconds.
            is_named: whether the 429 names its operation. While others are in use, it stops this operation alone,
                unless another one is limited too.
            record: a record of the 429, for the calls that wait or fail because of it.
        """
        if permit not in self._granted:
            return
        rejection = TooManyRequests(now=self._now(), wait=wait, jitter=self._random_number(), record=record)
        operation, operation_window = self._granted.pop(permit)
        self._queue.held[operation] -= 1
        is_named = is_named and self._queue.serves_others(operation, now=rejection.now)
        if self._operations.rate_limited(operation, now=rejection.now, is_named=is_named):
            self._window.abandoned(permit)
            self._operations.start_cooldown(operation, permit, operation_window, rejection)
            self._reject()
            self._ended("abandoned", permit)
        else:
            self._window.rate_limited(permit, rejection)
            self._queue.limited(operation, until=rejection.now + self._window.cooldown.left(rejection.now))
            self._reject()
            self._ended("rate_limited", permit, wait, rejection.jitter)

    def _reject(self) -> None:
        """End the waits of calls that may not wait for the end of the cooldown."""
        self._queue.reject(now=self._now(), left=self.cooldown_left, rejecting_since=self.rejecting_since)

    def _begin(self, operation: Hashable, now: float) -> Permit:
        permit, operation_window = self._window.begin(now), self._operations.windows.get(operation)
        if operation_window is not None:
            operation_window.join(permit)
        self._granted[permit] = operation, operation_window
        self._queue.held[operation] += 1
        return permit

    def _ended(self, ending: Ending, permit: Permit, *cooldown: float) -> None:
        """Grant permits to the waiters that may start now. `RedisGate` also reports the end."""
        if self._queue.waiting:
            self._admit()

    async def aclose(self) -> None:
        """End all waits with StateError; no request enters from now on. Closing twice does nothing."""
        self._used_here()
        self._closed = True
        self._stop_timer()
        self._queue.fail_all(StateError(CLOSED))

    def _next_start(self, operation: Hashable, now: float) -> float:
        """Advance the windows; return the seconds until a request may start, or infinity for until another one ends."""
        if not self._operations.windows:  # see the row "GET" of docs/benchmarks.md
            self._window.advance(now)
            return self._window.next_start(now)
        windows = self._windows(operation)
        for window in windows:
            window.advance(now)
        return max([window.next_start(now) for window in windows])

    def _begin_at_once(self, operation: Hashable, now: float) -> Permit | None:
        """Grant a permit without a wait; None if the call has to queue."""
        may_begin = self._queue.has_share_left(operation, now=now) and self._next_start(operation, now) == 0
        return self._begin(operation, now) if may_begin else None

    def _admit(self) -> None:
        self._stop_timer()
        loop = self._loop
        while not self._window.slow_start.is_full and loop is not None and not loop.is_closed():
            now, first, until = loop.time(), None, math.inf
            for waiter in self._queue.heads():
                wait = self._next_start(waiter.operation, now)
                if wait > 0:
                    until = min(until, wait)
                elif self._queue.has_share_left(waiter.operation, now=now):
                    first = waiter if first is None else self._queue.first(first, waiter, now=now)
            if first is None:
                if until < math.inf:
                    self._timer = loop.call_later(until, self._admit)
                return
            since = self.rejecting_since(first.operation)
            if since < math.inf and first.gives_up(now=now, left=0.0, rejecting_since=since):
                self._queue.fail(first, WaitTooLongError(0.0))
            else:
                self._queue.grant(first, self._begin(first.operation, now))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def rates_of(rate: RateLimit | Iterable[RateLimit] | None) -> tuple[RateLimit, ...]:
    """Return the rates as a tuple: for None, for one rate, or for an iterable of them."""
    if rate is None:
        return ()
    rates = tuple(rate) if isinstance(rate, Iterable) else (rate,)
    if not all(isinstance(item, RateLimit) for item in rates):
        raise UsageError(
            "rate must be a RateLimit, such as RateLimit(100, per=60), or an iterable of them", argument="rate"
        )
    return rates
