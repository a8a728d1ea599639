"""Operations that are down: when one closes, which call probes it, and where its other calls wait.

An operation that is half broken, such as one with two bad replicas of three, must cost hardly more calls than without
all this, and one that is down must cost one request for each probe, not for each call. So no single observation decides
for others:

- It takes `FAILURES_TO_CLOSE` failed attempts in a row to close an operation. If all of them had the same path, only
  calls of this path wait: the fault may lie in one object. A path that failed while another one succeeded waits, but
  its failures do not count for others until it succeeds: the fault does lie in its object.
- One call probes every second or so, each time another one. A path that has not failed comes first. Any success opens
  the operation, whoever had it.
- A call waits for as long as its own attempts would have taken, with the delays that the service names, and no longer
  than it may.
- A probe that hangs gets company. A delay that the service names is believed for a minute. What nobody has looked at
  for half a minute is forgotten.

The figures, and what else was tried: docs/decisions/outages.md.
"""

import asyncio
import math
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ..events import BackoffEvent, OutageEnded, OutageStarted, tell
from ..policy import DOWN, Outcome, time_of_attempts
from .call import Attempt, Call, Finding, OperationDownError
from .limits import Limits, Question
from .waiting import wait_for_change, wake

#: An operation closes after so many failed attempts in a row. A service of which 80 % of the attempts fail has them
#: once in ninety.
FAILURES_TO_CLOSE = 20
#: A probe begins so many seconds after the one before has failed, and up to so many more, which jitter draws.
PROBE_INTERVAL, PROBE_JITTER = 0.6, 0.3
#: A call that has waited for so many seconds probes at longer intervals. A probe that hangs gets company after as long.
PATIENT_AFTER, LONG_INTERVAL = 20.0, 5.0
#: A `retry-after` is believed for so many seconds: then one call asks whether it still holds.
LONGEST_CLOSURE = 60.0
#: What nobody has looked at for so many seconds is forgotten.
FORGOTTEN_AFTER = 30.0
#: A call whose policy has one attempt waits for so many seconds: for the outcome of one probe.
SHORTEST_WAIT = 2.0
#: So many paths that failed are remembered, the last ones.
MOST_PATHS = 64
#: A call whose path has failed leaves the probe to the others for so many seconds.
_AFTER_OTHERS = 0.01


class Findings:
    """What the clients of one gate have found out in this process, for all their calls.

    Args:
        down: the operations of which something has failed in a row. Almost always there is none.
        limits: the operations that are limited, while others are not.
        rate_limit: the last 429, which started a cooldown or prolonged it.
        is_active: whether anything may hold a call back, or has to be noted.
    """

    __slots__ = ("_pausing", "down", "is_active", "limits", "rate_limit")

    def __init__(self) -> None:
        self.down: dict[tuple[str, str], Outage] = {}
        self.limits: Limits = Limits()
        self.is_active: bool = False
        self.rate_limit: Finding | None = None
        #: What ends the delays before retries of operations that failed, when one of them is up again.
        self._pausing: dict[tuple[str, str], set[asyncio.Future[None]]] = {}

    def cause_of_cooldown(self, now: float) -> Finding | None:
        """Return the last 429; None when its cooldown is over: a later one has another reason."""
        return self.rate_limit if self.rate_limit is not None and now <= self.rate_limit.until else None

    def holds_back(self, call: Call) -> "Outage | Question | None":
        """Return what a call has to wait for, if it is not the one that finds out whether that still holds."""
        outage = self.down.get(call.operation)
        if outage is None or not outage.holds_back(call):
            return self.limits.holds_back(call)
        if outage.is_forgotten(call.clock()):
            del self.down[call.operation]
            return None
        return outage

    async def wait(self, call: Call) -> None:
        """Wait until the operation of a call is not known to be down or limited, or the call is to find out.

        Raises:
            OperationDownError: the next probe comes too late, or the time of the call's own attempts is over.
        """
        while (reason := self.holds_back(call)) is not None:
            await reason.wait(call)

    async def pause(self, call: Call, attempt: Attempt) -> None:
        """Wait before a retry; a success of the operation ends the delay, unless the service has named it."""
        if attempt.outcome not in DOWN or attempt.retry_after is not None:
            await asyncio.sleep(attempt.delay)
            return
        pausing = self._pausing.setdefault(call.operation, set())
        await wait_for_change(pausing, seconds=attempt.delay)
        if not pausing:
            self._pausing.pop(call.operation, None)

    def note(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> None:
        """Note what an attempt tells of its operation."""
        if attempt.outcome is Outcome.FINAL:
            self.limits.succeeded(call)
        if attempt.outcome in DOWN:
            outage = self.down.setdefault(call.operation, Outage())
            outage.failed(call, attempt, jitter=jitter, on_event=on_event)
        elif attempt.outcome in (Outcome.FINAL, Outcome.RATE_LIMITED) and call.operation in self.down:
            outage = self.down[call.operation]
            if outage.is_closed:
                wake(self._pausing.get(call.operation, set()))
            if outage.succeeded(call, on_event=on_event):
                del self.down[call.operation]
        self.is_active = bool(self.down) or self.limits.are_watched

    def left_by(self, call: Call) -> None:
        """Let another call find out if this one did: it has ended."""
        self.limits.left_by(call)
        if (outage := self.down.get(call.operation)) is not None:
            outage.left_by(call)


class Outage:
    """The failures of one operation in a row, and the calls that wait for its end. The first success ends it."""

    __slots__ = (
        "_closed_at",
        "_due",
        "_failed_paths",
        "_failures",
        "_found",
        "_named",
        "_probe",
        "_probes",
        "_seen",
        "_suspects",
        "_unsuspected",
        "_waiting",
    )

    def __init__(self) -> None:
        #: How much failed in this row: all of it, and without the suspects.
        self._failures = self._unsuspected = self._probes = 0
        #: What failed in this row, and what failed before another path succeeded. The last ones are at the end.
        self._failed_paths: dict[str, None] = {}
        self._suspects: dict[str, None] = {}
        self._closed_at: float | None = None
        #: When the next probe may begin, and when the last attempt failed or the last probe began.
        self._due = self._seen = -math.inf
        #: The longest delay that the service has named since the last probe; 0 for none.
        self._named = 0.0
        self._found: Finding | None = None
        self._probe: Call | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def is_closed(self) -> bool:
        """Whether calls wait."""
        return self._closed_at is not None

    def is_forgotten(self, now: float) -> bool:
        """Return whether it was so long ago that it says nothing any more."""
        return not self._waiting and now > max(self._due, self._seen) + FORGOTTEN_AFTER

    def holds_back(self, call: Call) -> bool:
        """Return whether a call waits: its operation is closed, and the call is not the one that probes it."""
        is_for_all = len(self._failed_paths) > 1 and self._unsuspected >= FAILURES_TO_CLOSE
        return self.is_closed and self._probe is not call and (is_for_all or self._has_failed(call))

    def _has_failed(self, call: Call) -> bool:
        path = call.request.url.path
        return path in self._failed_paths or path in self._suspects

    def _due_for(self, call: Call, *, waited: float) -> float:
        """Return when a call may probe that has waited so long."""
        due = max(self._due, self._seen + LONG_INTERVAL) if waited > PATIENT_AFTER else self._due
        return due + _AFTER_OTHERS if self._has_failed(call) else due

    async def wait(self, call: Call) -> None:
        """Wait until the operation is open, or the call is to probe it.

        Raises:
            OperationDownError: the next probe comes too late, or the time of the call's own attempts is over.
        """
        policy, limit = call.info.policy, call.limit.when()
        if call.waits_since is None:
            call.waits_since = call.clock(), call.progress
        began, progress = call.waits_since
        while self.holds_back(call):
            now = call.clock()
            patience = time_of_attempts(progress, policy=policy, retry_after=self._named)
            ends_at = min(began + max(patience, SHORTEST_WAIT), math.inf if limit is None else limit)
            due = self._due_for(call, waited=now - began)
            is_too_late = due >= ends_at or due - now > policy.max_wait
            # While a probe is in flight, its outcome decides.
            if now >= ends_at or (is_too_late and self._probe is None):
                assert self._found is not None  # noqa: S101  # what closed it
                raise OperationDownError(self._found)
            if due <= now:
                self._probe, self._seen, self._due = call, now, now + LONG_INTERVAL
                return
            await wait_for_change(self._waiting, seconds=min(due, ends_at) - now)
        # A success has shown that the service works: another outage is another wait.
        call.waits_since = None

    def failed(
        self, call: Call, attempt: Attempt, *, jitter: float, on_event: Callable[[BackoffEvent], None] | None
    ) -> None:
        """Count an attempt that found the operation down: enough of them close it, and a probe keeps it closed."""
        now = call.clock()
        self._count(call.request.url.path, now)
        closes, is_probe = not self.is_closed and self._failures >= FAILURES_TO_CLOSE, self._probe is call
        if closes or is_probe:
            self._probes += is_probe
            self._due, self._named = now + PROBE_INTERVAL + PROBE_JITTER * jitter, 0.0
        if attempt.retry_after is not None:
            self._due = max(self._due, now + min(attempt.delay, LONGEST_CLOSURE))
            # Any other attempt may not end all waits.
            is_believed = closes or is_probe
            self._named = max(self._named, attempt.retry_after if is_believed else min(attempt.delay, LONGEST_CLOSURE))
        if closes:
            self._closed_at = now
            event = OutageStarted(
                method=call.info.method,
                route=call.info.route,
                status=attempt.status,
                error=attempt.error_name,
                seconds=self._due - now,
            )
            tell(event, on_event)
        if closes or is_probe:
            self._probe, self._found = None, Finding(attempt, call.token, now + (attempt.retry_after or 0.0))
            wake(self._waiting)

    def _count(self, path: str, now: float) -> None:
        if not self.is_closed and self.is_forgotten(now):
            self._failures, self._unsuspected, self._failed_paths, self._suspects = 0, 0, {}, {}
        self._seen = now
        self._failures += 1
        if path not in self._suspects:
            self._unsuspected += 1
            _remember(self._failed_paths, path)

    def succeeded(self, call: Call, *, on_event: Callable[[BackoffEvent], None] | None) -> bool:
        """End the row of failures, and with it the outage; return whether nothing is left to remember."""
        closed_at, probes = self._closed_at, self._probes + 1
        for path in self._failed_paths:
            _remember(self._suspects, path)
        self._suspects.pop(call.request.url.path, None)
        self._failures, self._unsuspected, self._probes, self._due, self._failed_paths = 0, 0, 0, -math.inf, {}
        self._probe = self._closed_at = None
        if closed_at is not None:
            wake(self._waiting)
            method, route, seconds = call.info.method, call.info.route, call.clock() - closed_at
            tell(OutageEnded(method=method, route=route, seconds=seconds, probes=probes), on_event)
        return not self._suspects

    def left_by(self, call: Call) -> None:
        """Let another call probe at once if this one did: it has ended without finding out."""
        if self._probe is call:
            self._probe, self._due = None, call.clock()
            wake(self._waiting)


def _remember(paths: dict[str, None], path: str) -> None:
    paths.pop(path, None)
    paths[path] = None
    if len(paths) > MOST_PATHS:
        del paths[next(iter(paths))]


_SHARED: WeakKeyDictionary[object, Findings] = WeakKeyDictionary()


def shared_by(gate: object) -> Findings:
    """Return what the clients of one gate share in this process."""
    return _SHARED.setdefault(gate, Findings())
