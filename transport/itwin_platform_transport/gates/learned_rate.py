"""The rate that a service allows and does not state, learned from its 429s.

**Theory.** When a limiter rejects a request, two things are known: how many requests it has accepted since the period
began, and how many seconds pass from the first of them until it accepts again, which is the end of the delay that it
names. This number of requests in this time is a rate that the limiter accepts, and the gate keeps to it as to a known
rate. It is an estimate, for three reasons:

1. *It measures too much time.* Services count whole seconds and round delays up. So the time is rounded down to
   seconds, and gets the margin of a known rate, because requests take unequally long to arrive.
2. *It is mostly too slow.* A burst that crosses two windows, a ban, or a limit that has risen all add time. So the rate
   is probed: now and then its seconds are shortened. A probe that fails costs a cooldown. So it comes when the rate has
   held so long that a success would have saved as much: a probe of 10 % after ten cooldowns, one of 50 % after two.
   After a failure the rate that held before applies again, and the next probe is half as large. After a success the
   limit has risen, so the next probe is larger and comes sooner.
3. *It can be too fast.* A 429 that no probe explains shows this. The rate is measured again, and a share of it applies.

A few requests, or a long time, show no rate. The figures: docs/decisions/slow-start.md. `exchange.lua` has the same
rules for processes that share a gate.
"""

import math

#: A known or learned rate counts a request for longer than `per`, by this share of it...
MARGIN_SHARE = 0.04
#: ... but by at most these seconds, because a share of an hour is more than latencies differ.
MARGIN_SECONDS = 1.0
#: Fewest accepted requests that show a rate; fewer are added to those of the next period.
FEWEST_REQUESTS = 8
#: Most seconds of a period that shows a rate.
LONGEST_PERIOD = 20.0
#: The seconds by which services round up the delay that they name, on average.
ROUNDED_UP = 0.5
#: After a 429 that no probe explains, the rate falls to this share of itself...
SLOWER = 0.95
#: ... and to this share of the measured rate, because more was sent at once than one window allows.
SHARE_OF_MEASURED = 0.85
#: The first probe takes this share off the seconds of the rate.
FIRST_PROBE = 0.5
#: The first probe of a rate with few seconds takes off this share: such a rate is mostly right.
CAREFUL_PROBE = 0.1
#: A rate has few seconds if it has less than this number.
CAREFUL_BELOW = 1.5
#: Halving after failed probes ends at this share.
SMALLEST_PROBE = 1 / 32
#: Doubling after successful probes ends at this share.
LARGEST_PROBE = 0.25
#: After a successful probe, the next one comes when the rate has held for this many costs of a failure.
COSTS_BETWEEN_PROBES = 3.0
#: A failed probe costs the last cooldown, or this share of the rate's seconds if that is longer.
LEAST_COST = 0.5


def counted_seconds(seconds: float) -> float:
    """Return for how long a service counts requests that fill its limit in this time: whole seconds, with a margin."""
    return seconds if seconds < 1 else math.floor(seconds) * (1 + MARGIN_SHARE)


class LearnedRate:
    """The rate that the 429s of a window have shown.

    A period begins with a 429. The window sets `began`, counts `accepted`, and `rate_limited` ends the period. `settle`
    computes the rate after the cooldown, when the responses to earlier requests have come.
    """

    __slots__ = ("_good_seconds", "_share", "accepted", "began", "limit", "probe_at", "span")

    def __init__(self) -> None:
        #: The rate: requests and seconds. None while it is unknown.
        self.limit: tuple[int, float] | None = None
        #: The seconds of the rate that has held last, and the share that the next probe takes off.
        self._good_seconds, self._share = 0.0, FIRST_PROBE
        #: When the next probe is due.
        self.probe_at: float = math.inf
        #: When the first request of the measured period started, and how many the service has accepted since.
        self.began: float | None = None
        self.accepted: int = 0
        #: The seconds of the period that a 429 has ended, until `settle` computes the rate.
        self.span: float | None = None

    def rate_limited(self, started: float, *, wait: float) -> None:
        """Record the 429 that ends a period: when its request started, and the delay that the service names."""
        self.span = started - (started if self.began is None else self.began) + wait

    def settle(self, now: float, *, cost: float) -> None:
        """Learn from the period that the last 429 has ended, after a cooldown of `cost` seconds."""
        if self.span is None:
            return
        span, self.span = self.span, None
        count = self.accepted if span <= LONGEST_PERIOD else 0
        if self.limit is None and 0 < count < FEWEST_REQUESTS:
            return  # the next period is added
        self.began, self.accepted = None, 0
        if self.limit is None:
            if count and span > 0:
                self._keep_to(count, counted_seconds(span), FIRST_PROBE, now, cost)
        elif self.limit[1] < self._good_seconds:  # a probe has failed
            share = max(self._share / 2, SMALLEST_PROBE)
            self._keep_to(self.limit[0], self._good_seconds, share, now, cost)
        else:
            self._slow_down(*self.limit, count, span, now, cost)

    def _slow_down(self, requests: int, seconds: float, count: int, span: float, now: float, cost: float) -> None:
        seconds_each = seconds / requests / SLOWER
        if count:
            measured = counted_seconds(max(span - ROUNDED_UP, min(span, 1.0)))
            seconds_each = max(seconds_each, measured / count / SHARE_OF_MEASURED)
            requests = max(1, int(min(requests, count) * SHARE_OF_MEASURED))
        is_uncertain = requests * seconds_each >= CAREFUL_BELOW
        self._keep_to(requests, requests * seconds_each, FIRST_PROBE if is_uncertain else self._share, now, cost)

    def _keep_to(self, requests: int, seconds: float, share: float, now: float, cost: float) -> None:
        self._good_seconds = seconds
        self._share = min(share, CAREFUL_PROBE) if seconds < CAREFUL_BELOW else share
        self._set(requests, seconds, 1 / self._share, now, cost)

    def try_faster(self, requests: int, seconds: float, *, now: float, cost: float) -> None:
        """Probe: shorten the seconds of the rate. If the last probe succeeded, the limit has risen: take off more."""
        if seconds < self._good_seconds:
            self._share = min(2 * self._share, LARGEST_PROBE)
        self._good_seconds = seconds
        self._set(requests, seconds * (1 - self._share), COSTS_BETWEEN_PROBES, now, cost)

    def _set(self, requests: int, seconds: float, costs: float, now: float, cost: float) -> None:
        self.limit = requests, seconds
        self.probe_at = now + max(costs * max(cost, LEAST_COST * seconds), seconds)
