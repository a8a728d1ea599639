"""The gate: where the tasks that share a credential wait for permission to send."""

import asyncio
import itertools
import random
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from ..errors import StateError, UsageError, check_integer
from .breaker import Breakers
from .queue import Queue, Waiter
from .window import Permit, RateLimit, WaitTooLongError, Window

IN_USE = "the gate is in use in another event loop: make another gate here"
CLOSED = "the gate is closed: its `aclose()` was called; make another gate"
#: Where two operations were limited at once, a 429 stops all for so many seconds, whatever it names.
SHARED_FOR = 3_600.0
#: So long after a 429 without a name, a success of another operation says that the limit was not everybody's.
REMEMBERED_FOR = 120.0


class Gate:
    """Admits requests in order, and learns from responses how many may be in flight.

    One gate serves one address and credential: pass the same gate to all clients of a process that share both. It
    belongs to an event loop while a request of it has a permit or somebody waits in it. Calls are served in the order
    in which they began. But while other operations are in use, one operation has at most three quarters of the permits
    that these have not, and comes after those that wait if it has more than half. Cancelling a waiting task leaves the
    gate as it was.

    Args:
        max_in_flight: requests in flight at once, at least 1.
        rate: one known rate, or an iterable of rates that all apply.

    Raises:
        UsageError: a value is of the wrong type or out of its range.
    """

    def __init__(
        self,
        max_in_flight: int = 20,
        rate: RateLimit | Iterable[RateLimit] | None = None,
    ) -> None:
        check_integer("max_in_flight", max_in_flight, least=1)
        self._max_in_flight, self._rates = max_in_flight, rates_of(rate)
        self._window = Window(max_in_flight=max_in_flight, rates=self._rates)
        self._queue = Queue(most=max_in_flight)
        #: The windows of operations that a 429 has named, and the permits of these by those of the gate.
        self._own: dict[Hashable, Window] = {}
        self._own_permits: dict[Permit, tuple[Window, Permit]] = {}
        self._shared_until = float("-inf")
        #: The operation of the last 429, and whether another one has succeeded since.
        self._last_limited: tuple[Hashable, float] = (None, float("-inf"))
        self._others_succeed = False
        #: The last 429 of each operation that has a window of its own, and under None of the others, with its end.
        self._found: dict[Hashable, tuple[Any, float]] = {}
        #: The operations of which something has failed since their last success. Almost always there is none.
        self.breakers: Breakers[Any] = Breakers()
        self._tickets = itertools.count()
        #: Returns jitter, from 0 to 1.
        self._random_number: Callable[[], float] = random.random
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
        return self._window.in_flight

    @property
    def waiting(self) -> int:
        """Calls that wait for a permit."""
        return self._queue.waiting

    def ticket(self) -> int:
        """Return a position in the queue, kept through all attempts of a call: a lower one is served first."""
        return next(self._tickets)

    async def enter(self, ticket: int, *, max_wait: float, until: float | None, operation: Hashable = None) -> Permit:
        """Wait for permission to send one request.

        The permit ends with the first of `responded`, `rate_limited`, `abandoned` and `unused`; a second one does
        nothing.

        Args:
            ticket: the call's position in the queue.
            max_wait: the longest cooldown to wait for, in seconds.
            until: the call's deadline, in the event loop's time; None for no deadline.
            operation: what the request belongs to.

        Raises:
            WaitTooLongError: a cooldown is known, or becomes known, that is longer than these.
            StateError: the gate is closed, or in use in another event loop.
            UsageError: the server of a shared gate rejects what it was given.
        """
        while True:
            if self._closed:
                raise StateError(CLOSED)
            now = self._used_here().time()
            self._queue.called(operation, now=now)
            if not self._queue.waiting and self._may_begin(operation, now):
                return self._begin(operation, now)
            waiter = Waiter(ticket, operation=operation, max_wait=max_wait, until=until)
            permit = await self._wait(waiter, now=now)
            if self._window.may_send(permit, self._now()):
                return permit
            # A cooldown became known after the permit was granted and before this task continued.
            self.unused(permit)

    async def _wait(self, waiter: Waiter, *, now: float) -> Permit:
        left = self.cooldown_left(waiter.operation)
        if waiter.gives_up(now=now, left=left) and self._next_start(waiter.operation, now) != 0:
            raise WaitTooLongError(left)
        self._queue.add(waiter)
        if self._timer is None or self._own:
            self._admit()
        try:
            return await waiter
        except BaseException:
            # It was cancelled, or its coroutine was closed by hand.
            if waiter.get_loop().is_closed():
                raise
            if waiter.cancel() or waiter.cancelled():
                self._queue.left()
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
        self.breakers.clear()
        if self.in_flight or self._queue.waiting:
            # The loop was closed under its tasks, which end nothing any more.
            self._window.forget()
            self._queue.forget()
            self._own.clear()
            self._own_permits.clear()

    def _now(self) -> float:
        return (self._loop or asyncio.get_running_loop()).time()

    def serves_others(self, operation: Hashable) -> bool:
        """Return whether another operation was called lately."""
        return self._queue.serves_others(operation, now=self._now())

    def cooldown_left(self, operation: Hashable = None) -> float:
        """Return the seconds in which no request may start, or none of an operation."""
        now = self._now()
        return max([window.cooldown_left(now) for window in self._windows(operation)])

    def found(self, operation: Hashable) -> Any:
        """Return what came with the 429 that holds an operation back; None when nothing does."""
        now, scopes = self._now(), (operation if operation in self._own else None, None)
        kept = [self._found[scope] for scope in scopes if scope in self._found]
        return next((found for found, until in kept if now <= until), None)

    def _windows(self, operation: Hashable) -> list[Window]:
        own = self._own.get(operation) if self._own else None
        return [self._window] if own is None else [self._window, own]

    def responded(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        operation = self._queue.operation_of(permit)
        if windows := self._take_back(permit):
            self._others_succeed = self._others_succeed or operation != self._last_limited[0]
            for window, own in windows:
                window.responded(own)
            self._ended("responded", permit)

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response."""
        if windows := self._take_back(permit):
            for window, own in windows:
                window.abandoned(own)
            self._ended("abandoned", permit)

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        if windows := self._take_back(permit):
            for window, own in windows:
                window.unused(own)
            self._ended("unused", permit)

    def rate_limited(self, permit: Permit, *, wait: float, is_own: bool = False, found: object = None) -> None:
        """End an attempt that got a 429: no request starts for `wait` seconds; waits that may not last so long fail.

        Args:
            permit: the one of the attempt.
            wait: how long the limit lasts, in seconds.
            is_own: whether the 429 names its operation: then only requests of this one wait, unless another operation
                is limited too. That shows that the limit is everybody's, and so are those of the next hour.
            found: what came.
        """
        now, jitter, operation = self._now(), self._random_number(), self._queue.operation_of(permit)
        windows = self._take_back(permit)
        if any(each != operation and own.cooldown_left(now) > 0 for each, own in self._own.items()):
            self._shared_until = now + SHARED_FOR
        last, at = self._last_limited
        is_next = operation == last and self._others_succeed and now < at + REMEMBERED_FOR
        is_own = is_own or is_next or operation in self._own
        self._last_limited, self._others_succeed = (operation, now), False
        if is_own and now >= self._shared_until:
            self._limit(operation, windows, now=now, wait=wait, jitter=jitter)
            self._found[operation] = found, now + self._own[operation].cooldown_left(now)
            self._queue.reject(self.cooldown_left, now=now)
            self._ended("abandoned", permit)
            return
        self._own.clear()
        self._window.rate_limited(permit, now=now, wait=wait, jitter=jitter)
        self._found[None] = found, now + self._window.cooldown_left(now)
        self._queue.limited(operation, until=now + self._window.cooldown_left(now))
        self._queue.reject(self.cooldown_left, now=now)
        self._ended("rate_limited", permit, wait, jitter)

    def _limit(
        self, operation: Hashable, windows: list[tuple[Window, Permit]], *, now: float, wait: float, jitter: float
    ) -> None:
        """Let an operation wait alone: its cooldown, its slow start and its learned rate are those of any window."""
        (window, permit), *rest = windows
        window.abandoned(permit)
        if rest:
            rest[0][0].rate_limited(rest[0][1], now=now, wait=wait, jitter=jitter)
        elif operation in self._own:  # sent before it was known to be limited
            self._own[operation].extend(now + wait, now=now)
        else:
            own = self._own[operation] = Window(max_in_flight=self._max_in_flight)
            own.rate_limited(own.begin(permit.at), now=now, wait=wait, jitter=jitter)

    def _begin(self, operation: Hashable, now: float) -> Permit:
        permit = self._window.begin(now)
        self._queue.hold(permit, operation)
        if self._own and (own := self._own.get(operation)) is not None:
            self._own_permits[permit] = own, own.begin(now)
        return permit

    def _take_back(self, permit: Permit) -> list[tuple[Window, Permit]]:
        """Return the windows that have to know of the end of a permit; none if it has ended."""
        if not self._queue.ended(permit):
            return []
        own = self._own_permits.pop(permit, None) if self._own_permits else None
        return [(self._window, permit)] if own is None else [(self._window, permit), own]

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

    def _next_start(self, operation: Hashable, now: float) -> float:
        """Return the seconds until a request of an operation may start; infinity for until another one ends."""
        if not self._own:
            return _next_start(self._window, now)
        return max([_next_start(window, now) for window in self._windows(operation)])

    def _is_own_ready(self, operation: Hashable) -> bool:
        """Return whether no limit of its own holds an operation back."""
        own = self._own.get(operation)
        return own is None or _next_start(own, self._now()) == 0

    def _may_begin(self, operation: Hashable, now: float) -> bool:
        return self._queue.has_room(operation, now=now) and self._next_start(operation, now) == 0

    def _admit(self) -> None:
        self._stop_timer()
        loop = self._loop
        # With many waiters it is nearly always full: asking for the first one would take longer.
        while loop is not None and not loop.is_closed() and not self._window.is_full:
            now = loop.time()
            waits = {each.operation: self._next_start(each.operation, now) for each in self._queue.heads()}
            waiter = self._queue.first(now, lambda operation, waits=waits: waits[operation] == 0)
            if waiter is None:
                until = min([wait for wait in waits.values() if wait > 0], default=float("inf"))
                if until < float("inf"):
                    self._timer = loop.call_later(until, self._admit)
                return
            self._queue.grant(waiter, self._begin(waiter.operation, now))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _next_start(window: Window, now: float) -> float:
    window.advance(now)
    wait = window.next_start(now)
    return float("inf") if wait is None else wait


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


def gate_with(random_number: Callable[[], float], max_in_flight: int = 20) -> Gate:
    """Return a gate that takes its jitter from a function."""
    gate = Gate(max_in_flight)
    gate._random_number = random_number  # noqa: SLF001  # an argument would be one that users see
    return gate
