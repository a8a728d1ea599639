"""A gate that several processes share through an engine; without the engine each continues with its share."""

import asyncio
import math
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from ..._errors import StateError, UsageError
from ..._version import LOG
from ..events import GateChanged, tell
from .gate import IN_USE, Gate, checked_count, rates_of
from .window import Permit, RateLimit

#: A process that is silent for so many seconds gives its permits back: it crashed, was stopped, or lost the engine.
LEASE = 4.0
#: The first process that waits asks again after this time, each further one so much later, up to the longest. The
#: engine calls who has its turn: this matters only when a message is lost, or nobody is left who reports an end.
POLL_INTERVAL, POLL_STEP, LONGEST_POLL = 1.0, 0.05, 10.0
#: Processes that ask at the same moment do so one after the other.
_RANK_STEP, _LATEST_RANK, _JITTER = 0.002, 1.0, 0.002
#: An engine that takes longer than this counts as unreachable. Then it is tried again: after the first pause, and each
#: time after twice as long, up to the longest. In seconds.
ENGINE_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE, _PAUSE_JITTER = 1.0, 1.0, 10.0, 0.1
#: A 429, and what others may wait for, is reported at once; what else ended waits so long for company.
REPORT_DELAY = 0.01


NO_PERMIT = Permit(period=0, number=0, at=0.0)

Kind = Literal["unused", "abandoned", "answered", "rate_limited", "cooldown"]


class EngineUnreachableError(Exception):
    """The engine does not respond, or not in time."""


class EngineRejectsError(Exception):
    """The engine responds, and rejects the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a permit, or a cooldown of `value` seconds that a process knows of.

    Args:
        kind: what happened.
        permit: the permit of the engine; a cooldown has none.
        value: how long the cooldown lasts, in seconds.
        jitter: a number from 0 to 1.
    """

    kind: Kind
    permit: Permit = NO_PERMIT
    value: float = 0.0
    jitter: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One exchange: what ended, and how many permits the process wants from now on.

    Args:
        process: names the process.
        wants: how many of its tasks wait.
        listens: whether it listens for its turn.
        holds: whether it holds permits, apart from those that it reports the end of.
        reports: what happened since the last exchange.
    """

    process: str
    wants: int
    listens: bool
    holds: bool
    reports: Sequence[Report]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the engine says.

    Args:
        known: whether the process still has what it holds: its lease had not expired.
        wait: the seconds until another permit may be free; None for until another ends.
        rank: how many processes are served before this one.
        cooldown: the seconds in which no request may start.
        is_contended: whether a process waits.
        differs: whether another process has other settings.
        permits: granted now.
    """

    known: bool
    wait: float | None
    rank: int
    cooldown: float
    is_contended: bool
    differs: bool
    permits: Sequence[Permit]


class Engine(Protocol):
    """Where the state of a shared gate lives."""

    async def exchange(self, request: Request) -> Reply:
        """Report and ask; raises EngineUnreachableError and EngineRejectsError."""
        ...

    async def listen(self, process: str, *, ready: Callable[[], None], called: Callable[[], None]) -> None:
        """Call `ready` once messages can be received, and `called` with each; raises when none can be any more."""
        ...

    def leave_loop(self) -> None:
        """Forget connections: the next exchange comes from another event loop."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...


def poll_delay(reply: Reply, *, jitter: float) -> float:
    """Return the seconds after which a process that waits asks again; `jitter` is a number from 0 to 1."""
    pause = min(POLL_INTERVAL + POLL_STEP * reply.rank, LONGEST_POLL) if reply.wait is None else reply.wait
    return pause + min(reply.rank * _RANK_STEP, _LATEST_RANK) + jitter * _JITTER


class Reports:
    """The permits of the engine that this process holds, and what became of those that it held."""

    __slots__ = ("_held", "_waiting")

    def __init__(self) -> None:
        self._held: dict[Permit, Permit] = {}
        self._waiting: list[Report] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def holds(self) -> bool:
        """Whether a permit of the engine has not ended."""
        return bool(self._held)

    def hold(self, permit: Permit, *, granted: Permit) -> None:
        """Note which permit the engine has granted for one of this process."""
        self._held[permit] = granted

    def end(self, permit: Permit, kind: Kind, *, value: float = 0.0, jitter: float = 0.0) -> None:
        """Report what a permit ended in; of one that the engine does not know, or no longer, only a cooldown."""
        if (granted := self._held.pop(permit, None)) is not None:
            self._waiting.append(Report(kind=kind, permit=granted, value=value, jitter=jitter))
        elif kind == "rate_limited":
            self._waiting.append(Report(kind="cooldown", value=value))

    def unused(self, granted: Permit) -> None:
        """Report a permit that nobody waited for."""
        self._waiting.append(Report(kind="unused", permit=granted))

    def take(self) -> list[Report]:
        """Return what is to be reported, once."""
        reports, self._waiting = self._waiting, []
        return reports

    def forget(self) -> None:
        """Drop everything: the engine was lost, or has given the permits back."""
        self._held.clear()
        self._waiting.clear()


class SharedGate(Gate):
    """A gate whose permits come from an engine.

    Args:
        engine: where the state lives.
        name: what shares the limit.
        max_in_flight: requests in flight at once, of all processes.
        rate: one known rate of all processes, or an iterable of them.
        workers: how many processes share the limit: without the engine each continues with that share of it.
        on_event: is called when the engine is lost and when it is back.
    """

    __slots__ = (
        *("_asked", "_changed", "_due", "_engine", "_has_joined", "_has_warned", "_is_contended"),
        *("_is_cooldown_unreported", "_is_lost", "_listener", "_listens", "_name", "_on_event", "_pause", "_process"),
        *("_pump", "_reports"),
    )

    def __init__(
        self,
        engine: Engine,
        *,
        name: str,
        max_in_flight: int,
        rate: RateLimit | Iterable[RateLimit] | None,
        workers: int,
        on_event: Callable[[GateChanged], None] | None,
    ) -> None:
        checked_count("workers", workers)
        checked_count("max_in_flight", max_in_flight)
        rates = rates_of(rate)
        shares = [RateLimit(max(1, each.requests // workers), each.per) for each in rates]
        super().__init__(math.ceil(max_in_flight / workers), shares)
        self._max_in_flight, self._rates = max_in_flight, rates
        self._engine, self._name, self._on_event = engine, name, on_event
        # Made anew in each process: a gate may be built before a server forks its workers.
        self._process = ""
        self._reports = Reports()
        #: How many permits the engine has been asked for and has not granted yet.
        self._asked = 0
        self._has_joined = self._has_warned = self._is_lost = self._listens = self._is_contended = (
            self._is_cooldown_unreported
        ) = False
        #: When the next exchange is due, and what wakes the pump when it is due earlier than it was.
        self._due, self._pause = 0.0, FIRST_PAUSE
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def answered(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        self._reports.end(permit, "answered")
        self._window.answered(permit)
        # Also when nobody waits here: other processes may wait for this permit.
        self._admit()

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429: this process stops at once, the others with their next exchange."""
        self._reports.end(permit, "rate_limited", value=wait, jitter=self._random_number())
        self._is_cooldown_unreported = True
        super().rate_limited(permit, wait=wait)

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response."""
        self._reports.end(permit, "abandoned")
        super().abandoned(permit)

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        self._reports.end(permit, "unused")
        super().unused(permit)

    async def aclose(self) -> None:
        """End all waits with StateError, report what ended, and close what was opened."""
        if self._closed:
            return
        await super().aclose()
        if self._pump is not None:
            # An exchange in flight ends first, because it may bring permits, which have to be given back.
            self._due = 0.0
            self._changed.set()
            await asyncio.wait([self._pump])
        if self._has_joined and not self._is_lost:
            await self._exchange()
        try:
            await self._engine.aclose()
        except Exception:  # noqa: BLE001  # it is of no use any more, whatever its connections say
            LOG.debug("closing the server of gate %r failed", self._name, exc_info=True)

    def _leave_loop(self) -> None:
        is_alive = self._loop is not None and not self._loop.is_closed()
        if is_alive and self._pump is not None and not self._pump.done():
            raise StateError(IN_USE)
        super()._leave_loop()
        self._reports.forget()
        self._pump = self._listener = None
        self._process, self._listens, self._asked, self._due = "", False, 0, 0.0
        self._changed = asyncio.Event()
        if self._loop is not None:
            self._engine.leave_loop()

    def _may_begin(self, now: float) -> bool:
        if self._is_lost:
            self._exchange_within(0.0)  # the engine may be back
        return self._is_lost and super()._may_begin(now)

    def _admit(self) -> None:
        if self._is_lost:
            super()._admit()
        if self._closed:
            return
        if 2 * self._asked < self._queue.waiting:
            self._exchange_within(0.0)
        elif self._reports:
            is_urgent = self._queue.waiting or self._is_contended or self._is_cooldown_unreported
            self._exchange_within(0.0 if is_urgent else REPORT_DELAY)

    def _exchange_within(self, seconds: float) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        due = loop.time() + seconds
        if self._pump is None or self._pump.done():
            self._due = due if not self._is_lost else max(due, self._due)
            self._pump = loop.create_task(self._run())
        elif not self._is_lost and due < self._due:
            self._due = due
            self._changed.set()

    async def _run(self) -> None:
        """Exchange with the engine as long as somebody waits or holds a permit."""
        loop = asyncio.get_running_loop()
        while not self._closed and (self._queue.first() or self._reports or self._window.in_flight):
            while (left := self._due - loop.time()) > 0:
                self._changed.clear()
                timer = loop.call_later(left, self._changed.set)
                try:
                    await self._changed.wait()
                finally:
                    timer.cancel()
            await self._exchange()
        self._stop_listening()

    async def _exchange(self) -> None:
        loop = asyncio.get_running_loop()
        self._process = self._process or uuid.uuid4().hex
        reports = self._reports.take()
        if self._is_lost:
            # The engine knows no permit of this process, and no cooldown that it has met meanwhile.
            left = self._window.cooldown_left(loop.time())
            reports = [Report(kind="cooldown", value=left)] if left > 0 else []
        self._is_cooldown_unreported = False
        self._asked = self._queue.waiting
        self._due = loop.time() + (LEASE / 2 if self._reports.holds else LONGEST_POLL)
        request = Request(
            process=self._process,
            wants=self._asked,
            listens=self._listens,
            holds=self._reports.holds,
            reports=tuple(reports),
        )
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                reply = await self._engine.exchange(request)
        except Exception as error:  # noqa: BLE001  # whatever fails there, nobody may wait for ever here
            if isinstance(error, EngineRejectsError):
                self._reports.forget()
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            else:
                self._lose(str(error) or f"no response within {ENGINE_TIMEOUT:g} s")
        else:
            self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        now = asyncio.get_running_loop().time()
        if self._is_lost:
            self._is_lost = False
            self._stop_timer()
            tell(GateChanged(name=self._name, is_shared=True, reason=None), self._on_event)
        self._has_joined, self._pause = True, FIRST_PAUSE
        if reply.differs and not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "gate %r: another process gives other settings; max_in_flight and rate must be the same", self._name
            )
        if not reply.known:
            self._reports.forget()  # the lease had expired, and the permits with it
        self._is_contended = reply.is_contended
        if not self._is_cooldown_unreported:
            self._window.hold(now + reply.cooldown)
        for granted in reply.permits:
            self._grant(granted)
        if self._queue.first() is None:
            return
        self._queue.reject(now=now, left=self._window.cooldown_left(now))
        if not self._listens and self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        self._due = min(self._due, now + poll_delay(reply, jitter=self._random_number()))

    def _grant(self, granted: Permit) -> None:
        self._asked = max(0, self._asked - 1)
        if (waiter := self._queue.first()) is not None and not self._is_cooldown_unreported:
            permit = self._window.begin(asyncio.get_running_loop().time())
            self._reports.hold(permit, granted=granted)
            self._queue.grant(waiter, permit)
            self._exchange_within(LEASE / 2)
        else:
            self._reports.unused(granted)
        self._admit()

    async def _listen(self) -> None:
        def ready() -> None:
            self._listens = True
            self._exchange_within(0.0)

        def called() -> None:
            self._exchange_within(0.0)

        try:
            await self._engine.listen(self._process, ready=ready, called=called)
        except Exception as error:  # noqa: BLE001  # whatever fails there: until it is made anew, this process polls
            LOG.warning("gate %r: its subscription is made anew: %s", self._name, error or type(error).__name__)
            self._listener, self._listens = None, False
            if isinstance(error, EngineRejectsError):
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            self._exchange_within(FIRST_PAUSE)

    def _lose(self, reason: str) -> None:
        """Continue alone, under a new name: what the engine knows of the old one expires with its lease."""
        self._process = ""
        self._reports.forget()
        self._stop_listening()
        # Whoever sleeps until a later exchange wakes up: the engine is tried again after this pause.
        now = asyncio.get_running_loop().time()
        self._due = now + self._pause * (1 + _PAUSE_JITTER * self._random_number())
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._changed.set()
        if not self._is_lost:
            self._is_lost = True
            self._window.postpone_probe(now)
            tell(GateChanged(name=self._name, is_shared=False, reason=reason), self._on_event)
        self._admit()

    def _stop_listening(self) -> None:
        # What was asked for does not come any more.
        self._listens, self._asked = False, 0
        if self._listener is not None:
            self._listener.cancel()
            self._listener = None
