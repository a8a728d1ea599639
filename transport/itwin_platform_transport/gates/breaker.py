"""Circuit breakers: whether an operation, or a path of it, is up, and which call finds that out.

**Theory.** A breaker has the usual three states:

- *Closed*: calls pass. `FAILURES_TO_OPEN` failed attempts in a row open it, and any success sets the row back to zero.
  If 80 % of the attempts fail at random, this many in a row come once in ninety attempts.
- *Open*: calls wait without a permit, for as long as their own retries would have taken. Every 0.6 to 0.9 s, and never
  sooner than the service names, one of them is the probe.
- *Half-open*: the probe is in flight. If it fails, the breaker is open again. Any success, also of another call, closes
  it, and all calls continue.

So an outage costs about 40 requests, however many calls meet it. The figures: docs/decisions/outages.md.

There are two levels of the same class: a call passes the breaker of its path, then that of its operation. Of the
failures of one path in a row, only the first `COUNTED_OF_PATH` count for the operation, so a few bad objects stop no
other call. A call that has failed leaves the probe to calls that have failed less often.
"""

import asyncio
import math
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import NamedTuple

from ..policy import BackoffPolicy, Progress, time_of_attempts

#: Failures in a row that open a breaker. Fewer would open the breaker of a service that is half broken.
FAILURES_TO_OPEN = 20
#: Failures in a row of one path that count for its operation: six bad objects cannot open its breaker.
COUNTED_OF_PATH = 3
#: Most breakers of a gate: an outage of many paths takes no more memory however long it lasts.
MOST_REMEMBERED = 1_000
#: Seconds from a failed probe to the next one...
PROBE_INTERVAL = 0.6
#: ... and seconds that jitter adds at most, so that processes do not probe at the same time.
PROBE_JITTER = 0.3
#: Seconds of waiting after which a call probes only every LONG_INTERVAL seconds. Calls with the default policy end
#: before, unless the service names long delays.
PATIENT_AFTER = 20.0
#: Seconds between such probes. A probe that hangs this long no longer blocks the next one.
LONG_INTERVAL = 5.0
#: Longest `retry-after`, in seconds, that holds without a probe: a maintenance page may name an hour and end sooner.
LONGEST_RETRY_AFTER = 60.0
#: A breaker that no call waits for counts as closed this many seconds after its last failure, or after its next probe
#: was due.
FORGOTTEN_AFTER = 30.0
#: Shortest time, in seconds, that a call waits: for the outcome of one probe, also if its policy has one attempt.
SHORTEST_WAIT = 2.0
#: Seconds that a call delays its probe for each attempt that has failed, so that calls with fewer failures probe first.
AFTER_OTHERS = 0.01


class CircuitOpenError(Exception):
    """A call may not wait any longer for an open breaker; `record` is the record of the last probe."""

    def __init__(self, record: object) -> None:
        super().__init__()
        self.record = record


class Failure(NamedTuple):
    """A failed attempt.

    Args:
        record: its result, for other calls that end because of it.
        now: when it failed, in the event loop's time.
        retry_after: the delay that the service named, in seconds.
        jitter: a number from 0 to 1.
    """

    record: object
    now: float
    retry_after: float | None = None
    jitter: float = 0.0


class EndedOutage(NamedTuple):
    """An outage that a success has ended: its seconds, and the number of its failed probes plus one for the success."""

    seconds: float
    probes: int


class Breaker:
    """The breaker of one path or operation."""

    def __init__(self) -> None:
        #: Failed attempts since the last success, and probes among them.
        self.failures: int = 0
        self._probes = 0
        self._opened_at: float | None = None
        #: The call that is the probe: the breaker is half-open.
        self._probe: Hashable = None
        #: When the next probe may start, and the last time at which an attempt failed or a probe started.
        self._due = self._seen = -math.inf
        #: The record of the last probe, and the delay that the service named in its response, in seconds.
        self._record: object = None
        self._retry_after: float | None = None
        #: When each call began to wait, and its progress then.
        self._since: dict[Hashable, tuple[float, Progress]] = {}
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def is_open(self) -> bool:
        """Whether calls wait, except the probe."""
        return self._opened_at is not None

    def is_probed_by(self, call: Hashable) -> bool:
        """Return whether a call is the probe."""
        return self._probe is call

    def is_stale(self, now: float) -> bool:
        """Return whether no call waits, and FORGOTTEN_AFTER seconds have passed since a failure and the due probe."""
        return not self._waiting and now > max(self._due, self._seen) + FORGOTTEN_AFTER

    def blocks(self, call: Hashable, *, now: float) -> bool:
        """Return whether a call has to wait."""
        return self.is_open and not self.is_probed_by(call) and not self.is_stale(now)

    async def wait(self, call: Hashable, *, progress: Progress, policy: BackoffPolicy, until: float) -> None:
        """Wait until the state has changed, or the call has become the probe.

        Args:
            call: the call that waits.
            progress: its attempts so far.
            policy: its limits.
            until: when its time is over, in the event loop's time.

        Raises:
            CircuitOpenError: the retries of the call would have ended, or the next probe comes too late for it.
        """
        now = asyncio.get_running_loop().time()
        since, progress_then = self._since.setdefault(call, (now, progress))
        time_of_retries = time_of_attempts(progress_then, policy=policy, retry_after=self._retry_after or 0.0)
        ends_at = min(since + max(time_of_retries, SHORTEST_WAIT), until)
        due = max(self._due, self._seen + LONG_INTERVAL) if now - since > PATIENT_AFTER else self._due
        due += AFTER_OTHERS * progress.attempts
        is_too_late = due >= ends_at or due - now > policy.max_wait
        # While a probe is in flight, its outcome decides.
        if now >= ends_at or (is_too_late and self._probe is None):
            raise CircuitOpenError(self._record)
        if due <= now:
            self._probe, self._seen, self._due = call, now, now + LONG_INTERVAL
            return
        changed = asyncio.get_running_loop().create_future()
        self._waiting.add(changed)
        try:
            await asyncio.wait([changed], timeout=min(due, ends_at) - now)
        finally:
            self._waiting.discard(changed)

    def failed(self, call: Hashable, failure: Failure) -> float | None:
        """Count a failed attempt; return the seconds until the first probe if this one opens the breaker."""
        now, retry_after = failure.now, failure.retry_after
        self.failures, self._seen = self.failures + 1, now
        opens, is_probe = not self.is_open and self.failures >= FAILURES_TO_OPEN, self.is_probed_by(call)
        if opens or is_probe:
            self._record, self._probe, self._probes = failure.record, None, self._probes + is_probe
            self._due, self._retry_after = now + PROBE_INTERVAL + PROBE_JITTER * failure.jitter, retry_after
            self._wake()
        if retry_after is not None:
            self._due = max(self._due, now + min(retry_after, LONGEST_RETRY_AFTER))
        if opens:
            self._opened_at = now
        return self._due - now if opens else None

    def succeeded(self, *, now: float) -> EndedOutage | None:
        """Close the breaker, which is not used again; return the outage that this ends."""
        opened_at, self._opened_at = self._opened_at, None
        self._wake()
        return None if opened_at is None else EndedOutage(now - opened_at, self._probes + 1)

    def call_ended(self, call: Hashable) -> None:
        """Let another call probe at once if this one was the probe: it has ended without an outcome."""
        self._since.pop(call, None)
        if self.is_probed_by(call):
            self._probe, self._due = None, -math.inf
            self._wake()

    def _wake(self) -> None:
        for changed in self._waiting:
            if not changed.done():
                changed.set_result(None)


#: The key of a breaker: an operation, or an operation and a path.
Scope = Hashable


class Breakers:
    """The breakers of a gate. Almost always none is `active`: a success drops those of its path and operation."""

    def __init__(self) -> None:
        self.active: dict[Scope, Breaker] = {}

    def blocking(self, call: Hashable, scopes: Sequence[Scope], *, now: float) -> Breaker | None:
        """Return the breaker that a call has to wait for, of its path or else of its operation; None for none."""
        breakers = (self.active.get(scope) for scope in scopes)
        return next((breaker for breaker in breakers if breaker is not None and breaker.blocks(call, now=now)), None)

    def failed(self, call: Hashable, scopes: Sequence[Scope], failure: Failure) -> float | None:
        """Count a failed attempt; return the seconds until the first probe if this one opens a breaker."""
        self._forget(scopes, failure.now)
        path, operation = [self.active.setdefault(scope, Breaker()) for scope in scopes]
        opened = path.failed(call, failure)
        if path.failures <= COUNTED_OF_PATH or operation.is_probed_by(call):
            opened_too = operation.failed(call, failure)
            opened = opened_too if opened is None else opened
        if len(self.active) > MOST_REMEMBERED:
            oldest = next((scope for scope, breaker in self.active.items() if not breaker.is_open), scopes[0])
            del self.active[oldest]
        return opened

    def succeeded(self, scopes: Sequence[Scope], *, now: float) -> EndedOutage | None:
        """Close the breakers of a path and its operation; return the outage that this ends."""
        # Drop one stale breaker for each success: no call may come for its path again.
        self._forget([*islice(self.active, 1)], now)
        breakers = [self.active.pop(scope) for scope in scopes if scope in self.active]
        outages = [breaker.succeeded(now=now) for breaker in breakers]
        return next((outage for outage in reversed(outages) if outage is not None), None)

    def call_ended(self, call: Hashable, scopes: Sequence[Scope]) -> None:
        """Let another call probe if this one was the probe: it has ended."""
        for scope in scopes:
            if (breaker := self.active.get(scope)) is not None:
                breaker.call_ended(call)

    def clear(self) -> None:
        """Drop all breakers: they belong to an event loop that has ended."""
        self.active.clear()

    def _forget(self, scopes: Sequence[Scope], now: float) -> None:
        for scope in scopes:
            if scope in self.active and self.active[scope].is_stale(now):
                del self.active[scope]
