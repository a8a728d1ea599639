"""The gate: where the tasks that share a credential wait for permission to send."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from heapq import heapify, heappop, heappush

from ..errors import StateError, UsageError, check_integer
from .window import Permit, RateLimit, WaitTooLongError, Window

IN_USE = "the gate is in use in another event loop: make another gate here"
CLOSED = "the gate is closed: its `aclose()` was called; make another gate"
#: After a cooldown the other operations come first for so many seconds.
OTHERS_FIRST = 5.0
#: An operation counts as in use for so many seconds after a call.
LATELY = 30.0
#: What adding and subtracting a cooldown may leave of the clock's rounding, in seconds.
CLOCK_ERROR = 1e-6


class Waiter(asyncio.Future[Permit]):
    """A task's wait for a permit: its position in the queue, its operation, and how long a cooldown it may wait for."""

    __slots__ = ("max_wait", "operation", "ticket", "until")

    def __init__(
        self,
        ticket: int,
        *,
        operation: Hashable,
        max_wait: float,
        until: float | None,
    ) -> None:
        super().__init__()
        self.ticket: int = ticket
        self.operation: Hashable = operation
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
    """Waiters, first in first out by ticket; but one operation does not keep the others waiting.

    While another operation was called lately, none has more than one permit, or three quarters of those that the others
    do not have. An operation that has more than half of those that are out comes after the others, and so does, for
    some time, the one that was rate limited last: the limit may be its own.

    Args:
        most: permits in all.
    """

    def __init__(self, *, most: float) -> None:
        self._most = most
        self._by_operation: dict[Hashable, _Heap] = {}
        self._by_max_wait, self._by_until = _Heap(), _Heap()
        self._entries = itertools.count()
        #: The operations of permits that are out, by their numbers, how many each has, and when each was called last.
        self._holders: dict[int, Hashable] = {}
        self._held: Counter[Hashable] = Counter()
        self._called_at: dict[Hashable, float] = {}
        #: The operation that was rate limited last, and until when it comes after the others.
        self._limited: tuple[Hashable, float] = (None, float("-inf"))
        #: Waiters that have not been granted a permit, failed, or been counted as cancelled.
        self.waiting: int = 0

    def may_enter(self, operation: Hashable, *, now: float) -> bool:
        """Note a call, and return whether nobody waits and its operation may have another permit."""
        self._called_at[operation] = now
        return not self.waiting and self._has_room(operation, now)

    def _has_room(self, operation: Hashable, now: float) -> bool:
        held = self._held[operation]
        left = self._most - len(self._holders) + held
        return held == 0 or held + 1 <= 0.75 * left or not self.serves_others(operation, now=now)

    def serves_others(self, operation: Hashable, *, now: float) -> bool:
        """Return whether another operation was called lately."""
        return any(each != operation and at >= now - LATELY for each, at in self._called_at.items())

    def add(self, waiter: Waiter) -> None:
        """Queue a waiter behind all that have its ticket or a lower one."""
        entry = next(self._entries)
        self.waiting += 1
        queue = self._by_operation.setdefault(waiter.operation, _Heap())
        queue.push(waiter.ticket, entry, waiter, live=self.waiting)
        self._by_max_wait.push(waiter.max_wait, entry, waiter, live=self.waiting)
        if waiter.until < float("inf"):
            self._by_until.push(waiter.until, entry, waiter, live=self.waiting)

    def first(self, now: float) -> Waiter | None:
        """Return the waiter whose turn it is; None when nobody waits who may have another permit."""
        found = [each for each in self._heads() if self._has_room(each.operation, now)]
        if len(found) < 2:
            return found[0] if found else None
        limited, until = self._limited
        is_late, out = now < until, len(self._holders)
        return min(
            found,
            key=lambda each: (
                is_late and each.operation == limited,
                2 * self._held[each.operation] > out,
                each.ticket,
            ),
        )

    def _heads(self) -> list[Waiter]:
        """Return the first waiter of each operation."""
        heads = {operation: queue.first() for operation, queue in self._by_operation.items()}
        for operation in [operation for operation, waiter in heads.items() if waiter is None]:
            del self._by_operation[operation]
        return [waiter for waiter in heads.values() if waiter is not None]

    def grant(self, waiter: Waiter, permit: Permit) -> None:
        """Give a permit to a waiter."""
        self.waiting -= 1
        self.hold(permit, waiter.operation)
        waiter.set_result(permit)

    def hold(self, permit: Permit, operation: Hashable) -> None:
        """Note whose operation a permit is."""
        self._holders[permit.number] = operation
        self._held[operation] += 1

    def ended(self, permit: Permit) -> None:
        """Forget a permit."""
        self._held[self._holders.pop(permit.number, None)] -= 1

    def limit(self, permit: Permit, *, until: float) -> None:
        """Let the operation of a permit come after the others until then."""
        self._limited = self._holders.get(permit.number), until

    def reject(self, *, now: float, left: float) -> None:
        """End the waits that a cooldown of `left` seconds is too long for."""
        for heap in (self._by_max_wait, self._by_until):
            while (waiter := heap.first()) is not None and waiter.gives_up(now=now, left=left):
                self._fail(waiter, WaitTooLongError(left))

    def fail_all(self, error: Exception) -> None:
        """End all waits."""
        while heads := self._heads():
            for waiter in heads:
                self._fail(waiter, error)

    def _fail(self, waiter: Waiter, error: Exception) -> None:
        self.waiting -= 1
        waiter.set_exception(error)


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
        #: Permits of this process.
        self._most: float = max_in_flight
        self._window = Window(max_in_flight=max_in_flight, rates=self._rates)
        self._queue = WaiterQueue(most=self._most)
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

    def serves_others(self, operation: Hashable) -> bool:
        """Return whether another operation was called lately."""
        return self._queue.serves_others(operation, now=self._now())

    def for_one_operation(self) -> "Gate":
        """Return a gate for one operation, as large as this one: its calls pass it before they come here."""
        return gate_with(self._random_number, self._max_in_flight)

    def may_send(self, permit: Permit) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return self._window.may_send(permit, self._now())

    def ticket(self) -> int:
        """Return a position in the queue, kept through all attempts of a call: a lower one is served first."""
        return next(self._tickets)

    @property
    def waiting(self) -> int:
        """Calls that wait for a permit."""
        return self._queue.waiting

    async def enter(self, ticket: int, *, max_wait: float, until: float | None, operation: Hashable = None) -> Permit:
        """Wait for permission to send one request.

        The permit ends with exactly one of `responded`, `rate_limited`, `abandoned` and `unused`.

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
            if self._queue.may_enter(operation, now=now) and self._may_begin(now):
                permit = self._window.begin(now)
                self._queue.hold(permit, operation)
                return permit
            waiter = Waiter(ticket, operation=operation, max_wait=max_wait, until=until)
            permit = await self._wait(waiter, now=now)
            if self.may_send(permit):
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
                self._queue.waiting -= 1
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
            self._queue = WaiterQueue(most=self._most)

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
        self._queue.limit(permit, until=now + self._window.cooldown_left(now) + OTHERS_FIRST)
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
        self._queue.ended(permit)
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
        # With many waiters it is nearly always full: asking for the first one would take longer.
        while loop is not None and not loop.is_closed() and not self._window.is_full:
            now = loop.time()
            if (waiter := self._queue.first(now)) is None or (wait := self._window.wait(now)) is None:
                return
            if wait > 0:
                self._timer = loop.call_later(wait, self._admit)
                return
            self._queue.grant(waiter, self._window.begin(now))

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


def gate_with(random_number: Callable[[], float], max_in_flight: int = 20) -> Gate:
    """Return a gate that takes its jitter from a function."""
    gate = Gate(max_in_flight)
    gate._random_number = random_number  # noqa: SLF001  # an argument would be one that users see
    return gate
