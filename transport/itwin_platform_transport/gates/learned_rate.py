"""A rate that the service does not state, learned from its 429s.

**Theory.** A limiter counts requests in seconds. When it rejects one, two things are known: how many requests it let
through since the period began (`n`), and how long that took until it accepts again (`t`: from the first of them to the
end of the delay that it names). So `n` requests in `t` seconds is a rate that it accepts, and all calls keep to it as
if somebody had stated it. Three facts make this an estimate:

1. *Services count whole seconds and round delays up*, so `t` is rounded down to seconds, and gets the margin of known
   rates: requests take unequally long to arrive.
2. *It is mostly too slow.* A burst that crosses two windows, a ban, or a limit that has risen measure too much time. So
   the rate is probed: now and then its seconds are shortened. A probe that fails costs a cooldown, so it comes when the
   rate has held so long that a success would have saved as much: a probe of 10 % after ten cooldowns, one of 50 % after
   two. A probe that fails is taken back, and the next one is half as large. One that holds shows that the limit has
   risen, so the next one is larger and comes sooner.
3. *It may be too fast*: a 429 without a probe says so. It is measured again, and a share of that is taken.

Few requests, or a long time, tell no rate. The figures: docs/decisions/slow-start.md. `exchange.lua` has the same rules.
"""

import math
from dataclasses import dataclass

#: A rate counts a request for this much longer than `per`: by a share of it, and by so many seconds at most.
MARGIN_SHARE, MARGIN_SECONDS = 0.04, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The constants of the theory.

    Args:
        fewest: fewer requests, let through before a 429, tell no rate yet: the next period counts as well.
        longest: a longer time, in seconds, tells none.
        rounded_up: what a service adds to the delay that it names, in seconds, on average.
        slower, measured: a rate that was too fast slows down to this share, and to this share of what was measured.
        first_probe: what the first probe takes off the seconds, as a share of them.
        careful_probe, careful_below: the same of a rate with fewer seconds than this, which is mostly right.
        smallest_probe, largest_probe: where halving and doubling end.
        next_after: a probe that has held is followed by another one after so many losses.
        least_loss: a failed probe costs the cooldown, or this share of the seconds if that is longer.
    """

    fewest: int = 8
    longest: float = 20.0
    rounded_up: float = 0.5
    slower: float = 0.95
    measured: float = 0.85
    first_probe: float = 0.5
    careful_probe: float = 0.1
    careful_below: float = 1.5
    smallest_probe: float = 1 / 32
    largest_probe: float = 0.25
    next_after: float = 3.0
    least_loss: float = 0.5


TUNING = Tuning()


def counted_seconds(seconds: float) -> float:
    """Return for how long a service counts requests that fill its limit in this time: whole seconds, with a margin."""
    return seconds if seconds < 1 else math.floor(seconds) * (1 + MARGIN_SHARE)


class LearnedRate:
    """What the 429s of a gate have told.

    A period begins with a 429. `granted`, `let_through` and `rate_limited` tell what happens in it, and `settle`
    draws the conclusion once the responses have come. `limit` is the rate: requests and seconds; None while unknown.
    """

    __slots__ = ("_began", "_good_seconds", "_let_through", "_probe_at", "_share", "_span", "limit")

    def __init__(self) -> None:
        self.limit: tuple[int, float] | None = None
        #: The seconds of the rate that has held last, what the next probe takes off, and when it comes.
        self._good_seconds, self._share, self._probe_at = 0.0, TUNING.first_probe, 0.0
        #: The present measurement: its first request, what was let through since; its seconds once a 429 has ended it.
        self._began: float | None = None
        self._let_through = 0
        self._span: float | None = None

    @property
    def is_settled(self) -> bool:
        """Whether no 429 waits for its conclusion."""
        return self._span is None

    def granted(self, now: float) -> None:
        """Note that a request starts."""
        if self._began is None:
            self._began = now

    def let_through(self) -> None:
        """Note a response other than 429."""
        self._let_through += 1

    def rate_limited(self, started: float, *, wait: float) -> None:
        """Note the first 429 of a period: of a request that `started` then, with the delay that the service names."""
        self._span = started - (started if self._began is None else self._began) + wait

    def settle(self, now: float, *, cost: float) -> None:
        """Change the rate after a cooldown of `cost` seconds, when the responses to what was sent before it are there."""
        if self._span is None:
            return
        span, self._span = self._span, None
        count = self._let_through if span <= TUNING.longest else 0
        if self.limit is None and 0 < count < TUNING.fewest:
            return  # the next period counts as well
        self._began, self._let_through = None, 0
        if self.limit is None:
            if count and span > 0:
                self._keep_to(count, counted_seconds(span), TUNING.first_probe, now, cost)
        elif self.limit[1] < self._good_seconds:  # a probe has failed
            share = max(self._share / 2, TUNING.smallest_probe)
            self._keep_to(self.limit[0], self._good_seconds, share, now, cost)
        else:
            self._slow_down(*self.limit, count, span, now, cost)

    def _slow_down(self, requests: int, seconds: float, count: int, span: float, now: float, cost: float) -> None:
        each = seconds / requests / TUNING.slower
        if count:
            counted = counted_seconds(max(span - TUNING.rounded_up, min(span, 1.0)))
            each = max(each, counted / count / TUNING.measured)
            requests = max(1, int(min(requests, count) * TUNING.measured))
        is_uncertain = requests * each >= TUNING.careful_below
        self._keep_to(requests, requests * each, TUNING.first_probe if is_uncertain else self._share, now, cost)

    def _keep_to(self, requests: int, seconds: float, share: float, now: float, cost: float) -> None:
        self._good_seconds = seconds
        self._share = min(share, TUNING.careful_probe) if seconds < TUNING.careful_below else share
        self._set(requests, seconds, 1 / self._share, now, cost)

    def is_probe_due(self, now: float) -> bool:
        """Return whether the rate has held long enough to try a faster one."""
        return self.limit is not None and now >= self._probe_at

    def try_faster(self, now: float, *, cost: float) -> None:
        """Probe: shorten the seconds. A rate that has held through a probe is that of a limit which has risen."""
        assert self.limit is not None  # noqa: S101  # `is_probe_due` says so
        requests, seconds = self.limit
        if seconds < self._good_seconds:
            self._share = min(2 * self._share, TUNING.largest_probe)
        self._good_seconds = seconds
        self._set(requests, seconds * (1 - self._share), TUNING.next_after, now, cost)

    def _set(self, requests: int, seconds: float, losses: float, now: float, cost: float) -> None:
        self.limit = requests, seconds
        self._probe_at = now + max(losses * max(cost, TUNING.least_loss * seconds), seconds)
