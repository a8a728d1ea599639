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
#: A probe shortens the period of a learned rate to this share; a rate that was too fast slows down to this share.
PROBED_SHARE, SLOWER_SHARE = 0.9, 0.95
#: How many full periods come before the first probe of a learned rate, before the next one when one has failed, and at
#: most. A period counts as this many responses at least.
FIRST_PATIENCE, FAILED_PATIENCE, LONGEST_PATIENCE, FEWEST_RESPONSES = 1, 16, 64, 10
#: Fewer requests than these, let through before a 429, tell no rate yet: the next period counts as well.
FEWEST_MEASURED = 8
#: How much of a cooldown that had to grow is kept for the next one.
KEPT_SHARE = 0.9
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
        if type(self.requests) is not int or self.requests < 1:
            raise UsageError("requests must be an integer of at least 1")
        if not isinstance(self.per, int | float) or isinstance(self.per, bool) or not 0 < self.per < float("inf"):
            raise UsageError("per must be a finite number of seconds above 0")

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

    __slots__ = ("_granted", "requests", "seconds")

    def __init__(self, requests: int, seconds: float) -> None:
        self.requests, self.seconds = requests, seconds
        self._granted: deque[float] = deque()

    def wait(self, now: float) -> float:
        while self._granted and self._granted[0] + self.seconds <= now:
            self._granted.popleft()
        count = len(self._granted)
        return 0.0 if count < self.requests else self._granted[count - self.requests] + self.seconds - now

    def count(self, at: float) -> None:
        self._granted.append(at)

    def uncount(self, at: float) -> None:
        with suppress(ValueError):  # it is too old to count
            self._granted.remove(at)


class Window:
    """Decides whether a request may start now.

    After a 429 no request starts until the cooldown ends. Then the window opens from 1, by one for each response, so it
    doubles with each round trip. Only the first 429 of a period closes it. Requests from before it count towards
    `max_in_flight`, but a slow one of them does not keep the window shut.

    A 429 also tells a rate: as many requests as the period let through, in the time from the first of them to the end
    of the cooldown that the service names. The window keeps to it, as to a known rate. When so many requests succeed
    that the rate held others back, it is probed with a little more. A 429 then takes the probe back, and the next one
    comes later; without a probe the rate was too fast, and is measured again.

    A 429 before any success means that the cooldown was too short, or that others share the limit: each further one
    doubles the range in which the next cooldown is drawn, until the first success. The next cooldowns last as long.
    """

    __slots__ = (
        *("_allowed", "_began", "_cooldown_until", "_good_seconds", "_in_flight", "_in_period", "_is_held_back"),
        *("_kept_wait", "_learned", "_measured", "_most", "_number", "_open", "_patience", "_period", "_probe"),
        *("_probe_at", "_rates", "_responses", "_since", "_span", "_strikes", "_waited"),
    )

    def __init__(self, *, max_in_flight: int, rates: Sequence[RateLimit] = ()) -> None:
        self._most = self._open = max_in_flight
        self._rates = [_Rate(rate.requests, rate.counted_for) for rate in rates]
        self._in_flight = self._in_period = 0
        self._cooldown_until = self._probe_at = float("-inf")
        self._probe: Permit | None = None
        self._period = self._number = self._strikes = 0
        self._allowed = 0  # in this period
        self._waited = self._kept_wait = 0.0
        # The learned rate, and the seconds that it lasted with before they were probed.
        self._learned: _Rate | None = None
        self._good_seconds = 0.0
        # What the rate is measured by: the requests that were let through since the first of them, and after a 429 how
        # long they took with the cooldown.
        self._began: float | None = None
        self._span: float | None = None
        self._measured = 0
        # What it is probed by: the last permit before its last change, the responses to later ones, and whether it has
        # held a request back.
        self._since = self._responses = 0
        self._patience, self._is_held_back = FIRST_PATIENCE, False

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
        if self._span is not None:
            self._learn(self._span)
        if self._in_period >= self._open or self._in_flight >= self._most:
            return None
        learned = 0.0 if self._learned is None else self._learned.wait(now)
        self._is_held_back = self._is_held_back or learned > 0
        return max(learned, *(rate.wait(now) for rate in self._rates), 0.0)

    def may_send(self, permit: Permit, now: float) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return permit == self._probe or self.cooldown_left(now) == 0

    def begin(self, now: float) -> Permit:
        """Grant a permit."""
        self._in_flight += 1
        self._in_period += 1
        self._number += 1
        permit = Permit(period=self._period, number=self._number, at=now)
        for rate in self._all_rates():
            rate.count(now)
        if self._began is None:
            self._began = now
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
        for rate in self._all_rates():
            rate.uncount(permit.at)
        if permit == self._probe:
            self._probe, self._probe_at = None, float("-inf")

    def answered(self, permit: Permit) -> None:
        """End a request with a response other than 429, and open the window where that shows room."""
        self.end(permit)
        if permit == self._probe:
            self._cooldown_until = float("-inf")
        if permit.period == self._period or (self._span is not None and permit.period == self._period - 1):
            self._measured += 1
        if permit.period != self._period:
            return
        if self._strikes and not self._allowed:
            self._kept_wait = self._waited
        self._allowed += 1
        self._open = min(self._open + 1, self._most)
        if self._learned is not None and permit.number > self._since:
            self._try_faster(self._learned)

    def _try_faster(self, learned: _Rate) -> None:
        """Count a response at the learned rate; after enough of them, try a higher one."""
        self._responses += 1
        full = max(learned.requests, FEWEST_RESPONSES) * self._patience
        if self._is_held_back and self._responses >= full:
            self._good_seconds, learned.seconds = learned.seconds, learned.seconds * PROBED_SHARE
            self._since, self._responses, self._is_held_back = self._number, 0, False
            self._open = min(self._in_period + 1, self._most)  # so that a probe that fails costs few requests

    def rate_limited(self, permit: Permit, *, now: float, wait: float, jitter: float = 0.0) -> None:
        """End a request with a 429: no request starts for `wait` seconds or longer, then the window opens slowly."""
        self.end(permit)
        self._probe_at = now + PROBE_INTERVAL
        if permit.period != self._period:
            self._cooldown_until = max(self._cooldown_until, now + wait)
            return
        self._span = permit.at - (permit.at if self._began is None else self._began) + wait
        self._strikes = 0 if self._allowed or self._period == 0 else self._strikes + 1
        shortest = wait
        if self._strikes == 0 and self._kept_wait > wait:
            shortest, self._kept_wait = self._kept_wait, self._kept_wait * KEPT_SHARE
        longest = max(shortest, min(wait * 2.0**self._strikes, LONGEST_GROWTH))
        self._waited = shortest + jitter * (longest - shortest)
        until = now + self._waited
        self._cooldown_until = until if permit == self._probe else max(self._cooldown_until, until)
        self._period += 1
        self._allowed = self._in_period = 0
        self._open = 1

    def _learn(self, span: float) -> None:
        """Change the learned rate after a cooldown, when the responses have come to what was sent before it."""
        self._span, learned = None, self._learned
        measured = self._measured if span <= LONGEST_GROWTH else 0
        self._since, self._responses, self._is_held_back = self._number, 0, False
        if learned is None and 0 < measured < FEWEST_MEASURED:
            return
        self._began, self._measured = None, 0
        if learned is None:
            if measured and span > 0:
                self._learned, self._good_seconds = _Rate(measured, span), span
            return
        requests = learned.requests
        if learned.seconds < self._good_seconds:
            self._patience = min(max(2 * self._patience, FAILED_PATIENCE), LONGEST_PATIENCE)
        else:
            seconds = learned.seconds / SLOWER_SHARE / requests
            if measured:
                seconds, requests = max(seconds, span / measured), min(requests, measured)
            self._good_seconds, self._patience = seconds * requests, FIRST_PATIENCE
        self._learned = _Rate(requests, self._good_seconds)

    def _all_rates(self) -> list[_Rate]:
        return self._rates if self._learned is None else [*self._rates, self._learned]

    def forget(self) -> None:
        """Forget the permits that are out: nothing will end them."""
        self._in_flight = self._in_period = 0

    def postpone_probe(self, now: float) -> None:
        """Send no probe in the next minute: the engine of a shared limit, which granted them so far, is lost."""
        self._probe_at = now + PROBE_INTERVAL

    def hold(self, until: float) -> None:
        """Set when the cooldown ends, as the engine of a shared limit reports it."""
        self._cooldown_until = until
