"""When a request may start: the cooldown, the slow start, the known and the learned rates. No part reads a clock.

The theory: docs/decisions/slow-start.md. `exchange.lua` has the same parts for processes that share a gate, and
two tests compare them.
"""

import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..errors import UsageError, check_integer, check_seconds
from .learned_rate import MARGIN_SECONDS, MARGIN_SHARE, LearnedRate

#: Seconds between two probes of a longer cooldown: a delay of days may be a mistake, or end early.
COOLDOWN_PROBE_INTERVAL = 60.0
#: Longest cooldown, in seconds, that 429s in a row lead to if the service names less. Few limiters ban early requests
#: for longer.
LONGEST_GROWTH = 20.0
#: Most doublings of a cooldown in a row: a limit that holds for days has more 429s than a float has powers of two.
MOST_DOUBLINGS = 63
#: Factor by which a prolonged cooldown shrinks each time, so that cooldowns become short again when the ban does.
KEPT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A known rate: at most `requests` are sent in any `per` seconds.

    Args:
        requests: at least 1.
        per: seconds, above 0.

    Raises:
        UsageError: a number is out of its range.
    """

    requests: int
    per: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", check_integer("requests", self.requests, least=1))
        object.__setattr__(self, "per", per := check_seconds("per", self.per, bounds="above 0"))
        if not per:
            raise UsageError("per must be a finite number of seconds above 0", argument="per")

    @property
    def counted_for(self) -> float:
        """The seconds for which a request counts after it was sent."""
        return self.per + min(self.per * MARGIN_SHARE, MARGIN_SECONDS)


@dataclass(slots=True, eq=False)
class Permit:
    """Permission to send one request.

    Args:
        number: its sequence number at the gate that granted it.
        at: when it was granted, in the event loop's time.
    """

    number: Final[int]
    at: Final[float]


class TooManyRequests(NamedTuple):
    """A response with status 429, as a window counts it.

    Args:
        now: when it arrived, in the event loop's time.
        wait: the delay that the service names, in seconds.
        jitter: a number from 0 to 1.
        record: a record of it, for the calls that wait or fail because of it.
    """

    now: float
    wait: float
    jitter: float = 0.0
    record: object = None


class WaitTooLongError(Exception):
    """A cooldown lasts for `seconds` more, which is longer than the caller may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the cooldown lasts {seconds:g} s more")
        self.seconds = seconds


class Cooldown:
    """The time after a 429 in which no request starts. In a long one, a probe each minute finds out whether it holds.

    A 429 before any success means that the cooldown was too short, or that others share the limit. Each further 429
    doubles the range in which the next cooldown is drawn, until the first success. Later ones start at that length.
    """

    __slots__ = ("_grown", "_had_success", "_kept", "_probe", "_probe_at", "lasted", "rejecting_since", "until")

    def __init__(self) -> None:
        #: When it ends.
        self.until: float = -math.inf
        #: When the next probe may start, and the permit of the last one.
        self._probe_at = -math.inf
        self._probe: Permit | None = None
        #: How often cooldowns have grown in a row, and whether a request succeeded after the last one.
        self._grown, self._had_success = 0, True
        #: Seconds of the last prolonged cooldown that was long enough: the next one is at least as long.
        self._kept = 0.0
        #: Seconds of the last cooldown, as set at its start.
        self.lasted: float = 0.0
        #: The time of the first 429 since the last other response; infinity when there is none.
        self.rejecting_since: float = math.inf

    def left(self, now: float) -> float:
        """Return the seconds until it ends; 0 when there is none."""
        return max(0.0, self.until - now)

    def next_start(self, now: float) -> float:
        """Return the seconds until a request may start, at its end or as a probe."""
        return max(0.0, min(self.until, self._probe_at) - now)

    def allows(self, permit: Permit) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return permit.at >= self.until or permit is self._probe

    def probe(self, permit: Permit) -> None:
        """Record a request that starts within the cooldown."""
        self._probe, self._probe_at = permit, permit.at + COOLDOWN_PROBE_INTERVAL

    def unused(self, permit: Permit) -> None:
        """Let another request probe at once if this one, which was not sent, was the probe."""
        if permit == self._probe:
            self._probe, self._probe_at = None, -math.inf

    def accepted(self, permit: Permit, *, is_current: bool) -> None:
        """Record a response other than 429; `is_current` tells whether the request was sent after the cooldown."""
        self.rejecting_since = math.inf
        if permit == self._probe:
            self.until = -math.inf
        if is_current:
            if self._grown and not self._had_success:
                self._kept = self.lasted
            self._had_success = True

    def start(self, permit: Permit, *, now: float, wait: float, jitter: float) -> None:
        """Start with the first 429 of a period: for `wait` seconds, or longer if that was too short before."""
        self.rejecting_since = min(self.rejecting_since, now)
        self._grown = 0 if self._had_success else self._grown + 1
        self._had_success, shortest = False, wait
        if self._grown == 0 and self._kept > wait:
            shortest, self._kept = self._kept, self._kept * KEPT_SHARE
        longest = max(shortest, min(wait * 2.0 ** min(self._grown, MOST_DOUBLINGS), LONGEST_GROWTH))
        self.lasted = shortest + jitter * (longest - shortest)
        until = now + self.lasted
        self.until = until if permit == self._probe else max(self.until, until)
        self._probe_at = now + COOLDOWN_PROBE_INTERVAL

    def extend(self, until: float, *, now: float) -> None:
        """Prolong the cooldown after a further 429 of the same period."""
        self.rejecting_since = min(self.rejecting_since, now)
        self.until, self._probe_at = max(self.until, until), now + COOLDOWN_PROBE_INTERVAL

    def follow_server(self, *, now: float, left: float, rejecting_for: float | None) -> None:
        """Take over the cooldown of a shared limit. The server grants probes; without it, one is due in a minute."""
        if self.until <= now:
            self._probe_at = now + COOLDOWN_PROBE_INTERVAL
        self.until = now + left if left > 0 else -math.inf
        self.rejecting_since = math.inf if rejecting_for is None else now - rejecting_for


class SlowStart:
    """How many requests may be in flight: one after a 429, one more after each response, twice as many each round trip.

    Time is divided into periods, and each begins with a 429. A permit belongs to the period in which it was granted, by
    its number. Slow requests of earlier periods count only towards `most`, and do not keep it closed.
    """

    __slots__ = ("_began", "_most", "_open", "in_flight", "in_period", "previous")

    def __init__(self, most: int) -> None:
        #: How many may be in flight in all, and of this period.
        self._most = self._open = most
        #: Requests of this period in flight.
        self.in_period: int = 0
        #: The last permit numbers before the previous period and before this one.
        self.previous: int = 0
        self._began = 0
        #: Requests that have not ended, of all periods.
        self.in_flight: int = 0

    @property
    def is_full(self) -> bool:
        """Whether none may start until another ends."""
        return self.in_period >= self._open or self.in_flight >= self._most

    def end(self, permit: Permit) -> bool:
        """Record the end of a request, and return whether its permit is of this period."""
        is_current = permit.number > self._began
        self.in_flight -= 1
        self.in_period -= is_current
        return is_current

    def open(self) -> None:
        """Allow one more request of this period in flight, after a response."""
        self._open += 1

    def narrow(self) -> None:
        """Allow a single further request until its response arrives."""
        self._open = self.in_period + 1

    def restart(self, number: int) -> None:
        """Begin a period after a 429: later permits have higher numbers."""
        self.previous, self._began = self._began, number
        self.in_period, self._open = 0, 1

    def forget(self) -> None:
        """Drop the requests in flight: their event loop was closed."""
        self.in_flight = self.in_period = 0


class Window:
    """Decides when the next request may start, of a gate or of one operation.

    `next_start` changes nothing. Call `advance` before it, which draws the conclusions that are due.

    Args:
        max_in_flight: requests in flight at once.
        rates: the known rates, which all apply.
    """

    def __init__(self, *, max_in_flight: int, rates: Sequence[RateLimit] = ()) -> None:
        self.cooldown: Cooldown = Cooldown()
        self.slow_start: SlowStart = SlowStart(max_in_flight)
        self.learned: LearnedRate = LearnedRate()
        self._known = [(rate.requests, rate.counted_for) for rate in rates]
        #: Times of the permits that a rate counts.
        self._granted: deque[float] = deque()
        self._number = 0
        #: The record of the last 429 of this process; None when its cooldown comes from another one.
        self.last_429: object = None

    def advance(self, now: float) -> None:
        """Learn from the last 429 when its cooldown is over, and try a faster rate when a probe is due."""
        learned = self.learned
        if (learned.limit is None and learned.span is None) or self.cooldown.next_start(now) > 0:
            return
        cost = self.cooldown.lasted
        learned.settle(now, cost=cost)
        limit = learned.limit
        if limit is None or self.slow_start.is_full or now < learned.probe_at:
            return
        if self._until_free(*limit, now) > 0:
            self.slow_start.narrow()  # the probe may fail
            learned.try_faster(*limit, now=now, cost=cost)

    def next_start(self, now: float) -> float:
        """Return the seconds until one more request may start: 0 for now, infinity for until another one ends."""
        if now < self.cooldown.until and (wait := self.cooldown.next_start(now)) > 0:
            return wait
        if self.slow_start.is_full:
            return math.inf
        if self.learned.limit is None and not self._known:
            return 0.0
        return max([self._until_free(*rate, now) for rate in self._rates()])

    def _rates(self) -> list[tuple[int, float]]:
        return self._known if self.learned.limit is None else [*self._known, self.learned.limit]

    def _until_free(self, requests: int, seconds: float, now: float) -> float:
        is_counted = len(self._granted) >= requests
        return max(self._granted[-requests] + seconds - now, 0.0) if is_counted else 0.0

    def begin(self, now: float) -> Permit:
        """Grant a permit."""
        permit = Permit(self._number + 1, now)
        self.join(permit)
        return permit

    def join(self, permit: Permit) -> None:
        """Record a permit that starts: one of this window, or one of the gate for the window of an operation."""
        now, self._number = permit.at, permit.number
        self.slow_start.in_flight += 1
        self.slow_start.in_period += 1
        # Each part is called only if it has something to record: see the row "GET" of docs/benchmarks.md.
        if now < self.cooldown.until:
            self.cooldown.probe(permit)
        if self.learned.began is None:
            self.learned.began = now
        if self._known or self.learned.limit is not None:
            self._count(now)

    def _count(self, now: float) -> None:
        longest = max([seconds for _, seconds in self._rates()])
        while self._granted and self._granted[0] + longest <= now:
            self._granted.popleft()
        self._granted.append(now)

    def abandoned(self, permit: Permit) -> None:
        """End a request without a response."""
        self.slow_start.end(permit)

    def unused(self, permit: Permit) -> None:
        """Return a permit that was not used, as if it had never been granted."""
        self.slow_start.end(permit)
        self.cooldown.unused(permit)
        with suppress(ValueError):  # it is too old to count
            self._granted.remove(permit.at)

    def responded(self, permit: Permit) -> None:
        """End a request with a response other than 429. In the current period, it allows one more in flight."""
        is_current = self.slow_start.end(permit)
        self.cooldown.accepted(permit, is_current=is_current)
        if is_current if self.learned.span is None else permit.number > self.slow_start.previous:
            self.learned.accepted += 1
        if is_current:
            self.slow_start.open()

    def rate_limited(self, permit: Permit, rejection: TooManyRequests) -> None:
        """End a request with a 429: only the first one of a period begins another period."""
        if not self.slow_start.end(permit):
            self.extend(rejection)
            return
        self.cooldown.start(permit, now=rejection.now, wait=rejection.wait, jitter=rejection.jitter)
        self.slow_start.restart(self._number)
        self.learned.rate_limited(permit.at, wait=rejection.wait)
        self.last_429 = rejection.record

    def extend(self, rejection: TooManyRequests) -> None:
        """Prolong the cooldown after a further 429, or after one of a request that this window has not granted."""
        self.cooldown.extend(rejection.now + rejection.wait, now=rejection.now)
        self.last_429 = rejection.record

    def follow_server(self, *, now: float, left: float, rejecting_for: float | None) -> None:
        """Take over the cooldown of a shared limit from its server.

        Args:
            now: the event loop's time.
            left: the seconds that it lasts.
            rejecting_for: the seconds in which only 429s have come; None when the last response was another one.
        """
        if not self.cooldown.left(now) and self.cooldown.rejecting_since == math.inf:
            self.last_429 = None
        self.cooldown.follow_server(now=now, left=left, rejecting_for=rejecting_for)
