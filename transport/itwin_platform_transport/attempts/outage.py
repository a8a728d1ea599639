"""Where the calls of an operation that is down wait: beside the gate, without a permit, until one has probed it."""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ..events import BackoffEvent, OutageEnded, OutageStarted, tell
from ..policy import DOWN, Outcome, Progress, delay_before
from .call import Attempt, Call, Finding, OperationDownError

#: An operation closes when the first attempts of so many calls in a row have found it down.
FAILURES_TO_CLOSE = 5
#: So many paths that failed are remembered, the last ones: a probe with another path tells more.
MOST_PATHS = 64
#: It takes so many times as many failures when all of them are of suspects.
SUSPECTS_SHARE = 5
#: A hostile `retry-after` must not stop an operation for ever. In seconds.
LONGEST_CLOSURE = 3_600.0
#: A call whose path has failed leaves the probe to the others for so many seconds: the fault may lie in its object.
_AFTER_OTHERS = 0.01


class Findings:
    """What the clients of one gate have found out in this process, for all their calls.

    Args:
        down: the operations of which something has failed. Almost always there is none.
        rate_limit: the last 429, which started a cooldown or prolonged it.
    """

    __slots__ = ("down", "rate_limit")

    def __init__(self) -> None:
        self.down: dict[tuple[str, str], Outage] = {}
        self.rate_limit: Finding | None = None

    def cause_of_cooldown(self, now: float) -> Finding | None:
        """Return the last 429; None when its cooldown is over: a later one has another reason."""
        return self.rate_limit if self.rate_limit is not None and now <= self.rate_limit.until else None

    def holds_back(self, call: Call) -> "Outage | None":
        """Return the outage of a call's operation if there is one, and the call is not the one that probes it."""
        outage = self.down.get(call.operation)
        return outage if outage is not None and outage.holds_back(call) else None

    async def wait(self, call: Call) -> None:
        """Wait until the operation of a call is not known to be down, or the call is to probe it.

        Raises:
            OperationDownError: the next probe comes too late, or too many have failed.
        """
        while (outage := self.holds_back(call)) is not None:
            await outage.wait(call)

    def note(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> int:
        """Note what an attempt tells of its operation; return how often in a row that was found down for all."""
        if attempt.outcome in DOWN:
            outage = self.down.setdefault(call.operation, Outage())
            outage.failed(call, attempt, jitter=jitter, on_event=on_event)
            return outage.rounds
        if attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED):
            found = self.down.get(call.operation)
            if found is not None and found.succeeded(call, on_event=on_event):
                del self.down[call.operation]
        return 0

    def left_by(self, call: Call) -> None:
        """Let another call probe if this one did: it has ended."""
        if (outage := self.down.get(call.operation)) is not None:
            outage.left_by(call)


class Outage:
    """The failures of one operation in a row, and the calls that wait for its end.

    After `FAILURES_TO_CLOSE` it is closed: its calls wait. When the delay is over, one of them probes. If it fails, the
    next round begins, with a longer delay. A success ends the outage. The other paths that had failed are suspects from
    then on, until they succeed: bad objects of an operation that works. They tell little of it.

    Args:
        rounds: how often in a row one attempt has found it down for all; 0 while it is open.
    """

    __slots__ = (
        "_closed_at",
        "_delay",
        "_failed_paths",
        "_found",
        "_in_a_row",
        "_probe",
        "_until",
        "_waiting",
        "rounds",
    )

    def __init__(self) -> None:
        self.rounds: int = 0
        self._in_a_row = 0
        #: Whether each of them is a suspect; the last one that failed is at the end.
        self._failed_paths: dict[str, bool] = {}
        #: How long this round lasts, and when the next call may probe.
        self._delay = self._until = 0.0
        self._closed_at = 0.0
        self._found: Finding | None = None
        self._probe: Call | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    def holds_back(self, call: Call) -> bool:
        """Return whether a call waits: its operation is closed, and the call is not the one that probes it."""
        return self.rounds > 0 and self._probe is not call

    async def wait(self, call: Call) -> None:
        """Wait until the operation is open, or the call is to probe it.

        Raises:
            OperationDownError: the next probe comes too late, or too many have failed.
        """
        rounds, policy = self.rounds, call.info.policy
        while self.holds_back(call):
            now, ends_at = call.clock(), call.limit.when()
            has_failed = rounds < self.rounds >= policy.max_attempts
            is_too_late = self._until - now > policy.max_wait or (ends_at is not None and self._until >= ends_at)
            # While a probe is in flight, its outcome decides.
            if has_failed or (is_too_late and self._probe is None):
                assert self._found is not None  # noqa: S101  # what closed it
                raise OperationDownError(self._found)
            due = self._until + (_AFTER_OTHERS if call.request.url.path in self._failed_paths else 0.0)
            if due <= now:
                # If it hangs, another one probes after the length of the last delay.
                self._probe, self._until = call, now + max(self._delay, 0.001)
                return
            changed = asyncio.get_running_loop().create_future()
            self._waiting.add(changed)
            try:
                await asyncio.wait([changed], timeout=due - now)
            finally:
                self._waiting.discard(changed)

    def failed(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> None:
        """Count an attempt that found the operation down; the first ones of calls close it, a probe keeps it closed."""
        now, path, was_open = call.clock(), call.request.url.path, self.rounds == 0
        is_suspect = self._failed_paths[path] = self._failed_paths.pop(path, False)
        if len(self._failed_paths) > MOST_PATHS:
            del self._failed_paths[next(iter(self._failed_paths))]
        if call.progress.attempts == 1:
            self._in_a_row += 1 if is_suspect else SUSPECTS_SHARE
        closes = was_open and self._in_a_row >= FAILURES_TO_CLOSE * SUSPECTS_SHARE
        begins_round = closes or self._probe is call
        if begins_round:
            self.rounds += 1
            rounds = Progress(attempts=self.rounds)
            self._delay = delay_before(retry_after=None, progress=rounds, policy=call.info.policy, jitter=jitter)
            self._until = now + self._delay
        if attempt.retry_after is not None:
            self._until = max(self._until, now + min(attempt.delay, LONGEST_CLOSURE))
        if closes:
            self._closed_at = now
            event = OutageStarted(
                method=call.info.method,
                route=call.info.route,
                status=attempt.status,
                error=attempt.error_name,
                seconds=self._until - now,
            )
            tell(event, on_event)
        if begins_round:
            self._probe, self._found = None, Finding(attempt, call.token, self._until)
            self._wake()

    def succeeded(self, call: Call, *, on_event: Callable[[BackoffEvent], None] | None) -> bool:
        """End the outage; return whether nothing is left to remember."""
        rounds, self.rounds, self._in_a_row, self._probe = self.rounds, 0, 0, None
        self._failed_paths.pop(call.request.url.path, None)
        self._failed_paths = dict.fromkeys(self._failed_paths, True)
        self._wake()
        if rounds:
            seconds = call.clock() - self._closed_at
            tell(OutageEnded(method=call.info.method, route=call.info.route, seconds=seconds, probes=rounds), on_event)
        return not self._failed_paths

    def left_by(self, call: Call) -> None:
        """Let another call probe at once if this one did: it has ended without finding out."""
        if self._probe is call:
            self._probe, self._until = None, call.clock()
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for changed in waiting:
            changed.set_result(None)


_SHARED: WeakKeyDictionary[object, Findings] = WeakKeyDictionary()


def shared_by(gate: object) -> Findings:
    """Return what the clients of one gate share in this process."""
    return _SHARED.setdefault(gate, Findings())
