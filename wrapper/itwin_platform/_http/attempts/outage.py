"""Where the calls of an operation that is down wait: beside the gate, without a permit, until one has probed it."""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ..events import BackoffEvent, OutageEnded, OutageStarted, tell
from ..policy import DOWN, Outage, Outcome
from .call import Attempt, Call, FoundDown, LastRateLimit, OperationDownError


class Operations:
    """The operations of which something has failed, shared by the clients of one gate in this process."""

    __slots__ = ("_down",)

    def __init__(self) -> None:
        self._down: dict[tuple[str, str], _Operation] = {}

    def are_closed_to(self, call: Call) -> bool:
        """Return whether a call may not be sent now."""
        # Almost always nothing is down, and this is all that it costs.
        return bool(self._down) and self._closed_to(call) is not None

    def _closed_to(self, call: Call) -> "_Operation | None":
        operation = self._down.get(call.operation)
        return operation if operation is not None and operation.is_closed_to(call) else None

    async def wait(self, call: Call) -> None:
        """Wait until a call may be sent.

        Raises:
            OperationDownError: it may not be: the next probe comes too late, or too many have failed.
        """
        while (operation := self._closed_to(call)) is not None:
            if not await operation.wait(call):
                assert operation.found is not None  # noqa: S101  # what closed it
                raise OperationDownError(operation.found)

    def note(
        self,
        call: Call,
        attempt: Attempt,
        *,
        random_number: Callable[[], float],
        on_event: Callable[[BackoffEvent], None] | None,
    ) -> int:
        """Note what an attempt tells of its operation; return how often in a row that was found down for all."""
        if attempt.outcome in DOWN:
            operation = self._down.setdefault(call.operation, _Operation())
            operation.failed(call, attempt, jitter=random_number(), on_event=on_event)
            return operation.outage.rounds
        if self._down and attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED):
            found = self._down.get(call.operation)
            if found is not None and found.succeeded(call, on_event=on_event):
                del self._down[call.operation]
        return 0

    def left_by(self, call: Call) -> None:
        """Let another call probe if this one did: it has ended."""
        if self._down and (operation := self._down.get(call.operation)) is not None:
            operation.left_by(call)


class _Operation:
    __slots__ = ("_probe", "_timer", "_waiters", "found", "outage")

    def __init__(self) -> None:
        self.outage = Outage()
        self.found: FoundDown | None = None
        self._probe: Call | None = None
        self._waiters: dict[Call, asyncio.Future[bool]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def is_closed_to(self, call: Call) -> bool:
        return self.outage.rounds > 0 and self._probe is not call

    async def wait(self, call: Call) -> bool:
        loop = asyncio.get_running_loop()
        if self._ends_wait(call, now=loop.time()):
            return False
        future = self._waiters[call] = loop.create_future()
        if self._timer is None:
            self._choose()
        try:
            may_be_sent: bool = await future
            return may_be_sent
        finally:
            self._waiters.pop(call, None)

    def failed(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> None:
        now, was_open = asyncio.get_running_loop().time(), self.outage.rounds == 0
        begins_round = self.outage.failed(
            call.request.url.path,
            is_first=call.progress.attempts == 1,
            is_probe=self._probe is call,
            named_delay=0.0 if attempt.retry_after is None else attempt.delay,
            policy=call.info.policy,
            now=now,
            jitter=jitter,
        )
        if not begins_round:
            return
        self._probe, self.found = None, FoundDown(attempt, call.token, self.outage.until)
        if was_open:
            event = OutageStarted(
                method=call.info.method,
                route=call.info.route,
                status=None if attempt.response is None else attempt.response.status_code,
                error=None if attempt.error is None else type(attempt.error).__name__,
                seconds=self.outage.until - now,
            )
            tell(event, on_event)
        self._wake(
            lambda waiter: self.outage.rounds >= waiter.info.policy.max_attempts or self._ends_wait(waiter, now=now),
            may_be_sent=False,
        )
        self._stop_timer()
        self._choose()

    def succeeded(self, call: Call, *, on_event: Callable[[BackoffEvent], None] | None) -> bool:
        """End the outage; return whether nothing is left to remember."""
        rounds, self._probe = self.outage.rounds, None
        is_done = self.outage.succeeded(call.request.url.path)
        self._stop_timer()
        self._wake(lambda _: True, may_be_sent=True)
        if rounds:
            seconds = asyncio.get_running_loop().time() - self.outage.closed_at
            event = OutageEnded(method=call.info.method, route=call.info.route, seconds=seconds, probes=rounds)
            tell(event, on_event)
        return is_done

    def left_by(self, call: Call) -> None:
        if self._probe is call:
            self._probe = None
            self.outage.end_probe(asyncio.get_running_loop().time())
            self._stop_timer()
            self._choose()

    def _ends_wait(self, call: Call, *, now: float) -> bool:
        return self.outage.ends_wait(policy=call.info.policy, ends_at=call.limit.when(), now=now)

    def _choose(self) -> None:
        """Let one of the waiting calls probe, now or when the delay is over."""
        loop = asyncio.get_running_loop()
        self._timer = None
        if not self._waiters:
            return
        if self.outage.may_probe(loop.time()):
            waiting = [call for call, future in self._waiters.items() if not future.done()]
            if waiting:
                self._probe = waiting[self.outage.prober([call.request.url.path for call in waiting])]
                self.outage.begin_probe(loop.time())
                self._waiters[self._probe].set_result(True)
        self._timer = loop.call_at(self.outage.until, self._choose)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self, is_meant: Callable[[Call], bool], *, may_be_sent: bool) -> None:
        for call, future in self._waiters.items():
            if not future.done() and is_meant(call):
                future.set_result(may_be_sent)


_SHARED: WeakKeyDictionary[object, tuple[Operations, LastRateLimit]] = WeakKeyDictionary()


def shared_by(gate: object) -> tuple[Operations, LastRateLimit]:
    """Return what the clients of one gate share in this process: which operations are down, and their last 429."""
    return _SHARED.setdefault(gate, (Operations(), LastRateLimit()))
