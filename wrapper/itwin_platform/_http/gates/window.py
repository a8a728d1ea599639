"""How many requests may be in flight, as a state machine that receives the time: cooldown, slow start, rates."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..._errors import UsageError

#: In a cooldown that is longer than this, one request is sent in each such period to see whether it still holds.
PROBE_INTERVAL = 60.0
#: Cooldowns that the gate prolongs by itself, against limiters that punish early requests, end at this many seconds.
LONGEST_GROWTH = 20.0
#: Fewer requests than these, let through before a 429, tell nothing of where the next one is likely: 1, 2, 4 and one.
FEWEST_LEARNED = 8
#: A rate counts a request for this much longer than `per`, because requests take unequally long to reach the service.
RATE_MARGIN_SHARE, RATE_MARGIN_SECONDS = 0.04, 1.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A known rate: at most `requests` are sent in any `per` seconds.

    Source: section 8, which does not show the numbers per tier.

    Args:
        requests: at least 1.
        per: seconds, above 0.

    Raises:
        UsageError: a number is out of its range.
    """

    requests: int
    per: float

    def __post_init__(self) -> None:
        if self.requests < 1 or not 0 < self.per < float("inf"):
            raise UsageError("RateLimit: requests must be at least 1 and per a finite number of seconds above 0")

    @property
    def counted_for(self) -> float:
        """For how many seconds a request counts after it was sent."""
        return self.per + min(self.per * RATE_MARGIN_SHARE, RATE_MARGIN_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """Permission to send one request: its cooldown period, its sequence number, and when it was granted."""

    period: int
    number: int
    at: float


class WaitTooLongError(Exception):
    """A cooldown lasts for `seconds` more, which is longer than the caller may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the cooldown lasts {self.seconds:g} s more"


class _Rate:
    """One rate, with the times at which permits were granted that count against it."""

    __slots__ = ("_counted_for", "_granted", "_requests")

    def __init__(self, rate: RateLimit) -> None:
        self._requests, self._counted_for = rate.requests, rate.counted_for
        self._granted: deque[float] = deque()

    def wait(self, now: float) -> float:
        while self._granted and self._granted[0] + self._counted_for <= now:
            self._granted.popleft()
        return 0.0 if len(self._granted) < self._requests else self._granted[0] + self._counted_for - now

    def count(self, at: float) -> None:
        self._granted.append(at)

    def uncount(self, at: float) -> None:
        with suppress(ValueError):  # it is too old to count
            self._granted.remove(at)


class Window:
    """Decides whether a request may start now.

    After a 429 no request starts until the cooldown ends. Then the window opens from 1, by one for each response, so it
    doubles with each round trip, up to as many requests as the period before let through; past those it opens from 1
    again, because that is where the next 429 is likely, unless they were so few that they tell nothing. Only the first
    429 of a period closes it. Requests from before it count towards `max_in_flight`, but a slow one of them does not
    keep the window shut.

    A 429 before any success means that the cooldown was too short, or that others share the limit: each further one
    doubles the range in which the next cooldown is drawn, until the first success.
    """

    __slots__ = (
        *("_allowed", "_allowed_before", "_cooldown_until", "_in_flight", "_in_period", "_learned", "_mark", "_most"),
        *("_number", "_open", "_period", "_probe", "_probe_at", "_rates", "_started", "_strikes"),
    )

    def __init__(self, *, max_in_flight: int, rates: Sequence[RateLimit] = ()) -> None:
        if max_in_flight < 1:
            raise UsageError("Gate: max_in_flight must be at least 1")
        self._most = self._open = max_in_flight
        self._rates = [_Rate(rate) for rate in rates]
        self._in_flight = self._in_period = 0
        self._cooldown_until = self._probe_at = float("-inf")
        self._probe: Permit | None = None
        self._period = self._number = self._strikes = 0
        # Of this period: requests started and allowed, and the number past which they probe for more room.
        self._started = self._allowed = self._allowed_before = 0
        self._mark: int | None = None
        self._learned: int | None = None

    @property
    def in_flight(self) -> int:
        """Permits that have not ended."""
        return self._in_flight

    def cooldown_left(self, now: float) -> float:
        """Return the seconds until the cooldown ends; 0 when there is none."""
        return max(0.0, self._cooldown_until - now)

    def wait(self, now: float) -> float | None:
        """Return how long to wait before one more may start: 0 for now, None for until another ends."""
        if (left := self.cooldown_left(now)) > 0 and (until_probe := self._probe_at - now) > 0:
            return min(left, until_probe)
        if self._in_period >= self._open or self._in_flight >= self._most:
            return None
        return max((rate.wait(now) for rate in self._rates), default=0.0)

    def may_send(self, permit: Permit, now: float) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return permit == self._probe or self.cooldown_left(now) == 0

    def begin(self, now: float) -> Permit:
        """Grant a permit."""
        self._in_flight += 1
        self._in_period += 1
        self._started += 1
        self._number += 1
        permit = Permit(period=self._period, number=self._number, at=now)
        for rate in self._rates:
            rate.count(now)
        if self._started == self._learned and self._started >= FEWEST_LEARNED:
            self._open, self._mark = 1, permit.number
        if now < self._cooldown_until:
            self._probe, self._probe_at = permit, now + PROBE_INTERVAL
        return permit

    def end(self, permit: Permit) -> None:
        """End a request without a response."""
        self._in_flight -= 1
        self._in_period -= permit.period == self._period

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        self.end(permit)
        self._started -= permit.period == self._period
        for rate in self._rates:
            rate.uncount(permit.at)
        if permit == self._probe:
            self._probe, self._probe_at = None, float("-inf")

    def answered(self, permit: Permit) -> None:
        """End a request with a response other than 429, and open the window where that shows room."""
        self.end(permit)
        if permit == self._probe:
            self._cooldown_until = float("-inf")
        if permit.period == self._period:
            self._allowed += 1
            if self._mark is None or permit.number > self._mark:
                self._open = min(self._open + 1, self._most)
        elif permit.period == self._period - 1:
            self._allowed_before += 1
            self._learned = self._allowed_before

    def rate_limited(self, permit: Permit, *, now: float, wait: float, jitter: float = 0.0) -> None:
        """End a request with a 429: no request starts for `wait` seconds or longer, then the window opens slowly."""
        self.end(permit)
        self._probe_at = now + PROBE_INTERVAL
        if permit.period != self._period:
            self._cooldown_until = max(self._cooldown_until, now + wait)
            return
        self._strikes = 0 if self._allowed or self._period == 0 else self._strikes + 1
        longest = max(wait, min(wait * 2.0**self._strikes, LONGEST_GROWTH))
        until = now + wait + jitter * (longest - wait)
        self._cooldown_until = until if permit == self._probe else max(self._cooldown_until, until)
        self._period += 1
        self._learned = self._allowed or self._learned
        self._allowed_before = self._allowed
        self._started = self._allowed = self._in_period = 0
        self._open, self._mark = 1, None

    def postpone_probe(self, now: float) -> None:
        """Send no probe in the next minute: the engine of a shared limit, which granted them so far, is lost."""
        self._probe_at = now + PROBE_INTERVAL

    def hold(self, until: float) -> None:
        """Set when the cooldown ends, as the engine of a shared limit reports it."""
        self._cooldown_until = until
