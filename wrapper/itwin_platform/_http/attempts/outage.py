"""Where the calls of an operation that is down wait: beside the gate, without a permit, until one has probed it."""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ..events import BackoffEvent, OutageEnded, OutageStarted, tell
from ..policy import DOWN, Outage, Outcome
from .call import Attempt, Call, Finding, OperationDownError


class Findings:
    """What the clients of one gate have found out in this process, for all their calls.

    Args:
        down: the operations of which something has failed. Almost always there is none.
        rate_limit: the last 429, which started a cooldown or prolonged it.
    """

    __slots__ = ("down", "rate_limit")

    def __init__(self) -> None:
        self.down: dict[tuple[str, str], _Operation] = {}
        self.rate_limit: Finding | None = None

    def cause_of_cooldown(self, now: float) -> Finding | None:
        """Return the last 429; None when its cooldown is over: a later one has another reason."""
        return self.rate_limit if self.rate_limit is not None and now <= self.rate_limit.until else None

    def holds_back(self, call: Call) -> "_Operation | None":
        """Return the operation of a call if it is down, and the call is not the one that probes it."""
        operation = self.down.get(call.operation)
        return operation if operation is not None and operation.holds_back(call) else None

    async def wait(self, call: Call) -> None:
        """Wait until the operation of a call is not known to be down, or the call is to probe it.

        Raises:
            OperationDownError: the next probe comes too late, or too many have failed.
        """
        while (operation := self.holds_back(call)) is not None:
            if not await operation.wait(call):
                assert operation.found is not None  # noqa: S101  # what closed it
                raise OperationDownError(operation.found)

    def note(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> int:
        """Note what an attempt tells of its operation; return how often in a row that was found down for all."""
        if attempt.outcome in DOWN:
            operation = self.down.setdefault(call.operation, _Operation())
            operation.failed(call, attempt, jitter=jitter, on_event=on_event)
            return operation.outage.rounds
        if attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED):
            found = self.down.get(call.operation)
            if found is not None and found.succeeded(call, on_event=on_event):
                del self.down[call.operation]
        return 0

    def left_by(self, call: Call) -> None:
        """Let another call probe if this one did: it has ended."""
        if (operation := self.down.get(call.operation)) is not None:
            operation.left_by(call)


class _Operation:
    __slots__ = ("_probe", "_timer", "_waiters", "found", "outage")

    def __init__(self) -> None:
        self.outage = Outage()
        self.found: Finding | None = None
        self._probe: Call | None = None
        self._waiters: dict[Call, asyncio.Future[bool]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def holds_back(self, call: Call) -> bool:
        return self.outage.rounds > 0 and self._probe is not call

    async def wait(self, call: Call) -> bool:
        """Wait for a probe; return whether the call may be sent."""
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
        now, was_open = call.clock(), self.outage.rounds == 0
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
        self._probe, self.found = None, Finding(attempt, call.token, self.outage.until)
        if was_open:
            event = OutageStarted(
                method=call.info.method,
                route=call.info.route,
                status=attempt.status,
                error=attempt.error_name,
                seconds=self.outage.until - now,
            )
            tell(event, on_event)
        self._wake(
            lambda waiter: self.outage.rounds >= waiter.info.policy.max_attempts or self._ends_wait(waiter, now=now),
            may_be_sent=False,
        )
        self._choose()

    def succeeded(self, call: Call, *, on_event: Callable[[BackoffEvent], None] | None) -> bool:
        """End the outage; return whether nothing is left to remember."""
        rounds, self._probe = self.outage.rounds, None
        is_done = self.outage.succeeded(call.request.url.path)
        self._wake(lambda _: True, may_be_sent=True)
        if rounds:
            seconds = call.clock() - self.outage.closed_at
            event = OutageEnded(method=call.info.method, route=call.info.route, seconds=seconds, probes=rounds)
            tell(event, on_event)
        return is_done

    def left_by(self, call: Call) -> None:
        if self._probe is call:
            self._probe = None
            self.outage.end_probe(call.clock())
            self._choose()

    def _ends_wait(self, call: Call, *, now: float) -> bool:
        # While a probe is in flight, its outcome decides.
        return self._probe is None and self.outage.ends_wait(
            policy=call.info.policy, ends_at=call.limit.when(), now=now
        )

    def _choose(self) -> None:
        """Let one of the waiting calls probe, now or when the delay is over."""
        self._stop_timer()
        if not self._waiters:
            return
        loop = asyncio.get_running_loop()
        waiting = [call for call, future in self._waiters.items() if not future.done()]
        if waiting and self.outage.may_probe(loop.time()):
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


_SHARED: WeakKeyDictionary[object, Findings] = WeakKeyDictionary()


def shared_by(gate: object) -> Findings:
    """Return what the clients of one gate share in this process."""
    return _SHARED.setdefault(gate, Findings())
