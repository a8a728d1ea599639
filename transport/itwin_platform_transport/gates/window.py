"""How many requests may be in flight, as a state machine that receives the time: cooldown, slow start, rates."""

import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import UsageError, check_integer

#: In a cooldown that is longer than this, one request is sent in each such period to see whether it still holds.
PROBE_INTERVAL = 60.0
#: Cooldowns that the gate prolongs by itself, against limiters that punish early requests, end at this many seconds.
LONGEST_GROWTH = 20.0
#: They double so often at most: a limit that holds for days has more 429s than a float has powers of two.
MOST_DOUBLINGS = 63
#: A rate that was too fast slows down to this share, and to this share of what was measured since. The delay that a
#: service names for it is rounded up by so many seconds on average.
SLOWER_SHARE, MEASURED_SHARE, ROUNDED_UP = 0.95, 0.85, 0.5
#: A probe takes this share off the period of a learned rate: at first, at first of a period that is shorter than so
#: many seconds, and at least. It comes when the rate has held so long that a success would pay for what a failure
#: loses: the cooldown, or this share of the period if that is longer.
LARGEST_PROBE, CAREFUL_PROBE, CAREFUL_BELOW, SMALLEST_PROBE, LEAST_LOSS = 0.5, 0.1, 1.5, 1 / 32, 0.5
#: After a probe that has held, the next one takes twice its share, up to this one, and comes after so many losses.
LARGEST_NEXT_PROBE, NEXT_PROBE_AFTER = 0.25, 3
#: Fewer requests than these, let through before a 429, tell no rate yet: the next period counts as well.
FEWEST_MEASURED = 8
#: How much of a cooldown that had to grow is kept for the next one.
KEPT_SHARE = 0.9
#: A rate counts a request for this much longer than `per`, because requests take unequally long to reach the service.
RATE_MARGIN_SHARE, RATE_MARGIN_SECONDS = 0.04, 1.0


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
        check_integer("requests", self.requests, least=1)
        if not isinstance(self.per, int | float) or isinstance(self.per, bool) or not 0 < self.per < float("inf"):
            raise UsageError("per must be a finite number of seconds above 0", argument="per")

    @property
    def counted_for(self) -> float:
        """For how many seconds a request counts after it was sent."""
        return self.per + min(self.per * RATE_MARGIN_SHARE, RATE_MARGIN_SECONDS)


class Permit(NamedTuple):
    """Permission to send one request: its sequence number, and when it was granted."""

    number: int
    at: float


class WaitTooLongError(Exception):
    """A cooldown lasts for `seconds` more, which is longer than the caller may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the cooldown lasts {self.seconds:g} s more"


def counted_seconds(seconds: float) -> float:
    """Return for how long a service counts requests that fill its limit in this time: whole seconds, with a margin."""
    return seconds if seconds < 1 else math.floor(seconds) * (1 + RATE_MARGIN_SHARE)


class Window:
    """Decides whether a request may start now. Its reasons, and figures: docs/decisions/slow-start.md.

    Time is divided into periods, which begin with a 429. A permit belongs to the period in which it was granted, by its
    number. Three things can hold a request back, and each is decided by itself: the cooldown, how many may be in flight
    (`_open`), and rates, known ones and a learned one. `wait` says how long the longest of them lasts.

    After a 429 no request starts until the cooldown ends. Then the window opens from 1, by one for each response, so it
    doubles with each round trip. Only the first 429 of a period closes it. Requests from before it count towards
    `max_in_flight`, but a slow one of them does not keep the window shut.

    A 429 also tells a rate: as many requests as the period let through, in the time from the first of them to the end
    of the cooldown that the service names. The window keeps to it, as to a known rate. While the rate holds others
    back, it is probed with a shorter period. A 429 then takes the probe back, and the next one is smaller and comes
    later; without a probe the rate was too fast, and is measured again.

    A 429 before any success means that the cooldown was too short, or that others share the limit: each further one
    doubles the range in which the next cooldown is drawn, until the first success. The next cooldowns last as long.
    """

    def __init__(self, *, max_in_flight: int, rates: Sequence[RateLimit] = ()) -> None:
        self._most = self._open = max_in_flight
        self._rates = [(rate.requests, rate.counted_for) for rate in rates]
        #: When permits were granted, as long as a rate counts them.
        self._granted: deque[float] = deque()
        #: Permits that have not ended.
        self.in_flight: int = 0
        self._in_period = 0
        self._cooldown_until = self._probe_at = float("-inf")
        self._probe: Permit | None = None
        #: Permits up to this number are of periods before this one, or before the previous one.
        self._boundary = self._previous = 0
        self._number = self._strikes = 0
        #: Whether this period has let a request through; the one before the first 429 counts as one that has.
        self._has_allowed = True
        self._waited = self._kept_wait = 0.0
        # The learned rate: requests and seconds; and the seconds that it lasted with before they were probed.
        self._learned: tuple[int, float] | None = None
        self._good_seconds: float
        # What the rate is measured by: the requests that were let through since the first of them, and after a 429 how
        # long they took with the cooldown, as the service named it.
        self._began: float | None = None
        self._span: float | None = None
        self._measured = 0
        # The next probe of the learned rate: what it takes off the seconds, and when it comes.
        self._probe_share: float
        self._rate_probe_at: float

    def cooldown_left(self, now: float) -> float:
        """Return the seconds until the cooldown ends; 0 when there is none."""
        return max(0.0, self._cooldown_until - now)

    @property
    def is_full(self) -> bool:
        """Whether none may start until another ends."""
        return self._in_period >= self._open or self.in_flight >= self._most

    def wait(self, now: float) -> float | None:
        """Return how long to wait before one more may start: 0 for now, None for until another ends."""
        if (left := self.cooldown_left(now)) > 0 and (until_probe := self._probe_at - now) > 0:
            return min(left, until_probe)
        if self._span is not None:
            self._learn(self._span, now)
        if self.is_full:
            return None
        if self._learned is not None and now >= self._rate_probe_at and self._wait_for(*self._learned, now) > 0:
            self._try_faster(*self._learned, now)
        return max([0.0, *[self._wait_for(*rate, now) for rate in self._all_rates()]])

    def _all_rates(self) -> list[tuple[int, float]]:
        return self._rates if self._learned is None else [*self._rates, self._learned]

    def _wait_for(self, requests: int, seconds: float, now: float) -> float:
        is_counted = len(self._granted) >= requests
        return max(self._granted[-requests] + seconds - now, 0.0) if is_counted else 0.0

    def may_send(self, permit: Permit, now: float) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return permit == self._probe or self.cooldown_left(now) == 0

    def begin(self, now: float) -> Permit:
        """Grant a permit."""
        self.in_flight += 1
        self._in_period += 1
        self._number += 1
        permit = Permit(number=self._number, at=now)
        longest = max([0.0, *[seconds for _, seconds in self._all_rates()]])
        while self._granted and self._granted[0] + longest <= now:
            self._granted.popleft()
        if longest:
            self._granted.append(now)
        if self._began is None:
            self._began = now
        if now < self._cooldown_until:
            self._probe, self._probe_at = permit, now + PROBE_INTERVAL
        return permit

    def end(self, permit: Permit) -> None:
        """End a request without a response."""
        self.in_flight -= 1
        self._in_period -= permit.number > self._boundary

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        self.end(permit)
        with suppress(ValueError):  # it is too old to count
            self._granted.remove(permit.at)
        if permit == self._probe:
            self._probe, self._probe_at = None, float("-inf")

    def responded(self, permit: Permit) -> None:
        """End a request with a response other than 429, and open the window where that shows room."""
        self.end(permit)
        if permit == self._probe:
            self._cooldown_until = float("-inf")
        if permit.number > (self._boundary if self._span is None else self._previous):
            self._measured += 1
        if permit.number <= self._boundary:
            return
        if self._strikes and not self._has_allowed:
            self._kept_wait = self._waited
        self._has_allowed = True
        self._open = min(self._open + 1, self._most)

    def rate_limited(self, permit: Permit, *, now: float, wait: float, jitter: float = 0.0) -> None:
        """End a request with a 429: no request starts for `wait` seconds or longer, then the window opens slowly."""
        self.end(permit)
        self._probe_at = now + PROBE_INTERVAL
        if permit.number <= self._boundary:
            self._cooldown_until = max(self._cooldown_until, now + wait)
            return
        self._span = permit.at - (permit.at if self._began is None else self._began) + wait
        self._strikes = 0 if self._has_allowed else self._strikes + 1
        shortest = wait
        if self._strikes == 0 and self._kept_wait > wait:
            shortest, self._kept_wait = self._kept_wait, self._kept_wait * KEPT_SHARE
        longest = max(shortest, min(math.ldexp(wait, min(self._strikes, MOST_DOUBLINGS)), LONGEST_GROWTH))
        self._waited = shortest + jitter * (longest - shortest)
        until = now + self._waited
        self._cooldown_until = until if permit == self._probe else max(self._cooldown_until, until)
        self._previous, self._boundary = self._boundary, self._number
        self._has_allowed, self._in_period, self._open = False, 0, 1

    def _learn(self, span: float, now: float) -> None:
        """Change the learned rate after a cooldown, when the responses have come to what was sent before it."""
        self._span, learned = None, self._learned
        measured = self._measured if span <= LONGEST_GROWTH else 0
        if learned is None and 0 < measured < FEWEST_MEASURED:
            return
        self._began, self._measured = None, 0
        if learned is None:
            if measured and span > 0:
                self._keep_to(measured, counted_seconds(span), LARGEST_PROBE, now)
            return
        requests, seconds = learned
        if seconds < self._good_seconds:
            self._keep_to(requests, self._good_seconds, max(self._probe_share / 2, SMALLEST_PROBE), now)
            return
        each = seconds / requests / SLOWER_SHARE
        if measured:
            counted = counted_seconds(max(span - ROUNDED_UP, min(span, 1.0)))
            each = max(each, counted / measured / MEASURED_SHARE)
            requests = max(1, int(min(requests, measured) * MEASURED_SHARE))
        is_uncertain = requests * each >= CAREFUL_BELOW
        self._keep_to(requests, requests * each, LARGEST_PROBE if is_uncertain else self._probe_share, now)

    def _keep_to(self, requests: int, seconds: float, probe_share: float, now: float) -> None:
        """Set the learned rate, and when it is probed."""
        self._good_seconds = seconds
        self._probe_share = min(probe_share, CAREFUL_PROBE) if seconds < CAREFUL_BELOW else probe_share
        self._set_rate(requests, seconds, 1 / self._probe_share, now)

    def _try_faster(self, requests: int, seconds: float, now: float) -> None:
        """Probe the learned rate, which has lasted; few requests at once, in case that it fails.

        A rate that has held through a probe is that of a limit which has risen, so it may be far too slow.
        """
        if seconds < self._good_seconds:
            self._probe_share = min(2 * self._probe_share, LARGEST_NEXT_PROBE)
        self._good_seconds = seconds
        self._open = min(self._in_period + 1, self._most)
        self._set_rate(requests, seconds * (1 - self._probe_share), NEXT_PROBE_AFTER, now)

    def _set_rate(self, requests: int, seconds: float, losses: float, now: float) -> None:
        self._learned = requests, seconds
        self._rate_probe_at = now + max(losses * max(self._waited, LEAST_LOSS * seconds), seconds)

    def forget(self) -> None:
        """Forget the permits that are out: nothing will end them."""
        self.in_flight = self._in_period = 0

    def postpone_probe(self, now: float) -> None:
        """Send no probe in the next minute: the engine of a shared limit, which granted them so far, is lost."""
        self._probe_at = now + PROBE_INTERVAL

    def hold(self, until: float) -> None:
        """Set when the cooldown ends, as the engine of a shared limit reports it."""
        self._cooldown_until = until
