"""A gate that several processes share through an engine; without the engine each continues with its share."""

import asyncio
import math
import uuid
from collections.abc import Callable, Iterable
from typing import Self

from ..._errors import UsageError
from ..events import GateChanged, tell
from ..policy import BackoffPolicy
from .engine import LEASE, Engine, EngineRejectsError, Reply, Report, Request
from .gate import Gate, rates_of
from .intervals import LONGEST_POLL, poll_delay, sent_delay
from .reports import Reports, SharedBudget
from .window import Permit, RateLimit

#: An engine that takes longer than this counts as unreachable; then it is tried again so often. In seconds.
ENGINE_TIMEOUT, RETRY_INTERVAL = 1.0, 1.0
#: A 429, and what others may wait for, is reported at once; what else ended waits so long for company.
REPORT_DELAY = 0.01


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
        *("_asked", "_changed", "_due", "_engine", "_has_joined", "_is_contended", "_is_cooldown_unreported"),
        *("_is_lost", "_listener", "_listens", "_name", "_on_event", "_process", "_pump", "_reports", "_sent_delay"),
        "retry_budget",
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
        if workers < 1:
            raise UsageError("RedisGate: workers must be at least 1")
        rates = rates_of(rate)
        shares = [RateLimit(max(1, each.requests // workers), each.per) for each in rates]
        super().__init__(math.ceil(max_in_flight / workers), shares)
        self.retry_budget: SharedBudget = SharedBudget(BackoffPolicy().retry_budget)
        self._engine, self._name, self._on_event = engine, name, on_event
        # Made anew in each process: a gate may be built before a server forks its workers.
        self._process = ""
        self._reports = Reports(counts_sent=bool(rates))
        self._sent_delay = sent_delay(rates)
        #: How many permits the engine has been asked for and has not granted yet.
        self._asked = 0
        self._has_joined = self._is_lost = self._listens = self._is_contended = self._is_cooldown_unreported = False
        #: When the next exchange is due, and what wakes the pump when it is due earlier than it was.
        self._due = 0.0
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def sending(self, permit: Permit) -> None:
        """Count the attempt against the rates: its request goes out now."""
        super().sending(permit)
        if self._reports.sending(permit, now=asyncio.get_running_loop().time()):
            self._exchange_within(self._sent_delay)

    def answered(self, permit: Permit) -> None:
        """End an attempt that got a response other than 429."""
        self._reports.end(permit, "answered", now=asyncio.get_running_loop().time())
        self._window.answered(permit)
        # Also when nobody waits here: other processes may wait for this permit.
        self._admit()

    def rate_limited(self, permit: Permit, *, wait: float) -> None:
        """End an attempt that got a 429: this process stops at once, the others with their next exchange."""
        now = asyncio.get_running_loop().time()
        self._reports.end(permit, "rate_limited", now=now, value=wait, jitter=self._random_number())
        self._is_cooldown_unreported = True
        super().rate_limited(permit, wait=wait)

    def abandoned(self, permit: Permit) -> None:
        """End an attempt without a response; one that was not sent leaves the limit as it was."""
        self._reports.end(permit, "abandoned", now=asyncio.get_running_loop().time())
        super().abandoned(permit)

    async def aclose(self) -> None:
        """End all waits with UsageError, report what ended, and close what was opened."""
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
        await self._engine.aclose()

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
        due = asyncio.get_running_loop().time() + seconds
        if self._pump is None or self._pump.done():
            self._due = due if not self._is_lost else max(due, self._due)
            self._pump = asyncio.create_task(self._run())
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
        reports = self._reports.take(now=loop.time())
        spent, self.retry_budget.unreported = self.retry_budget.unreported, 0
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
            spent=spent,
            reports=tuple(reports),
        )
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                reply = await self._engine.exchange(request)
        except Exception as error:  # noqa: BLE001  # whatever fails there, nobody may wait for ever here
            if isinstance(error, EngineRejectsError) and not self._has_joined:
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            self._lose(str(error) or f"no response within {ENGINE_TIMEOUT:g} s")
        else:
            self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        now = asyncio.get_running_loop().time()
        if self._is_lost:
            self._is_lost = False
            self._stop_timer()
            tell(GateChanged(name=self._name, is_shared=True, reason=None), self._on_event)
        self._has_joined = True
        if not reply.known:
            self._reports.forget()  # the lease had expired, and the permits with it
        self.retry_budget.left = reply.budget + self.retry_budget.unreported
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

        try:
            await self._engine.listen(self._process, ready=ready, grant=self._grant)
        except Exception as error:  # noqa: BLE001  # as for an exchange
            self._listener = None
            self._lose(str(error))

    def _lose(self, reason: str) -> None:
        """Continue alone, under a new name: what the engine knows of the old one expires with its lease."""
        self._process = ""
        self._reports.forget()
        self._stop_listening()
        # Whoever sleeps until a later exchange wakes up: the engine is tried again after this interval.
        now = asyncio.get_running_loop().time()
        self._due = now + RETRY_INTERVAL
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
