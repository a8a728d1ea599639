"""Operations that are down, as a circuit breaker for each: closed, open, half-open.

- *Closed*: nothing is known to be wrong. `FAILURES_TO_OPEN` failed attempts of an operation in a row open its breaker; any
  success begins the row anew. A service of which 80 % of the attempts fail has so many once in ninety.
- *Open*: its calls wait without a permit, for as long as their own retries would have taken. One of them probes every
  0.6 to 0.9 s, and never sooner than the service names. Who has failed least probes first, so a bad object does not
  keep others out.
- *Half-open*: a probe is in flight. Any success closes the breaker, whoever had it, and all calls continue.

So an outage costs about 40 requests however many calls meet it. The figures: docs/decisions/outages.md.

A path has a breaker too, and a call passes both: that of its path, then that of its operation. Of the failures of one
path in a row, only the first `COUNTED_OF_PATH` count for the operation. So a few bad objects stop nobody else.
"""

import asyncio
import math
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from ..policy import BackoffPolicy, Progress, time_of_attempts

T = TypeVar("T")

FAILURES_TO_OPEN = 20
COUNTED_OF_PATH = 3
#: So many operations and paths are remembered of which something failed: the last ones, and those that are open.
MOST_REMEMBERED = 1_000
#: A probe begins so many seconds after the one before has failed, and up to so many more, which jitter draws.
PROBE_INTERVAL, PROBE_JITTER = 0.6, 0.3
#: Who has waited for so many seconds probes at longer intervals. A probe that hangs gets company after as long.
PATIENT_AFTER, LONG_INTERVAL = 20.0, 5.0
#: A `retry-after` is believed for so many seconds: then one call asks whether it still holds.
LONGEST_NAMED = 60.0
#: What nobody has looked at for so many seconds is forgotten.
FORGOTTEN_AFTER = 30.0
#: A call whose policy has one attempt waits for so many seconds: for the outcome of one probe.
SHORTEST_WAIT = 2.0
#: For each attempt of its own that failed, a call leaves the probe to the others for so many seconds.
_AFTER_OTHERS = 0.01


class OperationDownError(Exception):
    """A call may not wait any longer for an operation that is down; `found` is what the last probe got."""

    def __init__(self, found: object) -> None:
        super().__init__()
        self.found = found


class Closed(NamedTuple):
    """An outage that is over: its seconds, and the probes that it took."""

    seconds: float
    probes: int


class Breaker(Generic[T]):
    """The breaker of one operation; `T` is what a failed attempt has found."""

    def __init__(self) -> None:
        self.failures: int = 0
        self._probes = 0
        self._opened_at: float | None = None
        #: The call that probes, when the next probe may begin, and when the last attempt failed or probed.
        self._probe: Hashable = None
        self._due = self._seen = -math.inf
        self._found: T | None = None
        #: The longest delay that the service has named since the last probe, in seconds.
        self._named = 0.0
        #: When each call began to wait, and what its attempts had come to.
        self._since: dict[Hashable, tuple[float, Progress]] = {}
        self._waiting: set[asyncio.Future[None]] = set()

    def holds_back(self, call: Hashable) -> bool:
        """Return whether a call has to wait: the breaker is open, and the call is not the probe."""
        return self.is_open and self._probe is not call

    @property
    def is_open(self) -> bool:
        """Whether calls wait."""
        return self._opened_at is not None

    def is_stale(self, now: float) -> bool:
        """Return whether it was so long ago that it says nothing any more."""
        return not self._waiting and now > max(self._due, self._seen) + FORGOTTEN_AFTER

    def is_probed_by(self, call: Hashable) -> bool:
        """Return whether a call is the probe."""
        return self._probe is call

    async def wait(self, call: Hashable, *, progress: Progress, policy: BackoffPolicy, until: float | None) -> None:
        """Wait until something has changed, or the call is to probe.

        Args:
            call: who waits.
            progress: what its attempts have come to.
            policy: its limits.
            until: when its time is over; None for never.

        Raises:
            OperationDownError: its own retries would have ended, or the next probe comes too late.
        """
        now = asyncio.get_running_loop().time()
        since, progress_then = self._since.setdefault(call, (now, progress))
        patience = time_of_attempts(progress_then, policy=policy, retry_after=self._named)
        ends_at = min(since + max(patience, SHORTEST_WAIT), math.inf if until is None else until)
        is_patient = now - since > PATIENT_AFTER
        due = max(self._due, self._seen + LONG_INTERVAL if is_patient else -math.inf)
        due += _AFTER_OTHERS * progress.attempts
        is_too_late = due >= ends_at or due - now > policy.max_wait
        # While a probe is in flight, its outcome decides.
        if now >= ends_at or (is_too_late and self._probe is None):
            raise OperationDownError(self._found)
        if due <= now:
            self._probe, self._seen, self._due = call, now, now + LONG_INTERVAL
            return
        changed = asyncio.get_running_loop().create_future()
        self._waiting.add(changed)
        try:
            await asyncio.wait([changed], timeout=min(due, ends_at) - now)
        finally:
            self._waiting.discard(changed)

    def failed(self, call: Hashable, found: T, *, now: float, named: float | None, jitter: float) -> float | None:
        """Count a failed attempt; return the seconds until the first probe if this one opens the breaker."""
        self.failures, self._seen = self.failures + 1, now
        opens, is_probe = self._opened_at is None and self.failures >= FAILURES_TO_OPEN, self._probe is call
        if opens or is_probe:
            self._found, self._probe, self._probes = found, None, self._probes + is_probe
            self._due, self._named = now + PROBE_INTERVAL + PROBE_JITTER * jitter, 0.0
        if named is not None:
            self._due = max(self._due, now + min(named, LONGEST_NAMED))
            self._named = max(self._named, named if opens or is_probe else min(named, LONGEST_NAMED))
        if opens:
            self._opened_at = now
        if opens or is_probe:
            self._wake()
        return self._due - now if opens else None

    def succeeded(self, *, now: float) -> Closed | None:
        """Close the breaker, which is not used any more; return what is over if it was open."""
        opened_at, self._opened_at = self._opened_at, None
        self._wake()
        return None if opened_at is None else Closed(now - opened_at, self._probes + 1)

    def left(self, call: Hashable) -> None:
        """Let another call probe at once if this one did: it has ended without finding out."""
        self._since.pop(call, None)
        if self._probe is call:
            self._probe, self._due = None, -math.inf
            self._wake()

    def _wake(self) -> None:
        for changed in self._waiting:
            if not changed.done():
                changed.set_result(None)


#: What names a breaker: the operation, or the operation and the path.
Scope = tuple[str, ...]


class Breakers(Generic[T]):
    """The breakers of a gate. Almost always none is `active`: a success removes those of its path and operation."""

    def __init__(self) -> None:
        self.active: dict[Scope, Breaker[T]] = {}

    def holding_back(self, call: Hashable, scopes: Sequence[Scope], *, now: float) -> Breaker[T] | None:
        """Return the breaker that a call has to wait for; None when it may go on."""
        self._forget(scopes, now)
        found = (self.active.get(scope) for scope in scopes)
        return next((each for each in found if each is not None and each.holds_back(call)), None)

    def failed(
        self, call: Hashable, scopes: Sequence[Scope], found: T, *, now: float, named: float | None, jitter: float
    ) -> float | None:
        """Count a failed attempt; return the seconds until the first probe if this one opens a breaker."""
        self._forget(scopes, now)
        path, operation = [self.active.setdefault(scope, Breaker()) for scope in scopes]
        opened = path.failed(call, found, now=now, named=named, jitter=jitter)
        if path.failures <= COUNTED_OF_PATH or operation.is_probed_by(call):
            also = operation.failed(call, found, now=now, named=named, jitter=jitter)
            opened = also if opened is None else opened
        if len(self.active) > MOST_REMEMBERED:
            oldest = next((scope for scope, each in self.active.items() if not each.is_open), None)
            self.active.pop(oldest or scopes[0])
        return opened

    def succeeded(self, scopes: Sequence[Scope], *, now: float) -> Closed | None:
        """Close the breakers of a path and its operation; return what is over if one was open."""
        self._forget([next(iter(self.active))], now)
        ended = [each.succeeded(now=now) for scope in scopes if (each := self.active.pop(scope, None)) is not None]
        return next((each for each in reversed(ended) if each is not None), None)

    def _forget(self, scopes: Sequence[Scope], now: float) -> None:
        for scope in scopes:
            if scope in self.active and self.active[scope].is_stale(now):
                del self.active[scope]

    def left_by(self, call: Hashable, scopes: Sequence[Scope]) -> None:
        """Let another call probe if this one did: it has ended."""
        for scope in scopes:
            if (breaker := self.active.get(scope)) is not None:
                breaker.left(call)

    def clear(self) -> None:
        """Forget all: they belong to an event loop that has ended."""
        self.active.clear()
