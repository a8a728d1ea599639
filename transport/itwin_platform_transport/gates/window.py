"""When a request may start, as state machines that receive the time: cooldown, slow start, rates."""

import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import UsageError, check_integer
from .learned_rate import MARGIN_SECONDS, MARGIN_SHARE, LearnedRate

#: In a cooldown that is longer than this, one request is sent in each such period to see whether it still holds.
PROBE_INTERVAL = 60.0
#: Cooldowns that the gate prolongs by itself, against limiters that punish early requests, end at this many seconds.
LONGEST_GROWTH = 20.0
#: They double so often at most: a limit that holds for days has more 429s than a float has powers of two.
MOST_DOUBLINGS = 63
#: How much of a cooldown that had to grow is kept for the next one.
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
        check_integer("requests", self.requests, least=1)
        if not isinstance(self.per, int | float) or isinstance(self.per, bool) or not 0 < self.per < float("inf"):
            raise UsageError("per must be a finite number of seconds above 0", argument="per")

    @property
    def counted_for(self) -> float:
        """For how many seconds a request counts after it was sent."""
        return self.per + min(self.per * MARGIN_SHARE, MARGIN_SECONDS)


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


class Cooldown:
    """No request starts before its end; of a long one, a probe each minute finds out whether it still holds.

    A 429 before any success means that the cooldown was too short, or that others share the limit: each further one
    doubles the range in which the next cooldown is drawn, until the first success. The next cooldowns last as long.
    """

    __slots__ = ("_grown", "_had_success", "_kept", "_probe", "_probe_at", "_until", "lasted")

    def __init__(self) -> None:
        self._until = self._probe_at = -math.inf
        self._probe: Permit | None = None
        #: How often it grew in a row, how long a grown one lasted that sufficed, and whether this one has sufficed.
        self._grown, self._kept, self._had_success = 0, 0.0, True
        #: The seconds of the last one.
        self.lasted: float = 0.0

    def left(self, now: float) -> float:
        """Return the seconds until it ends; 0 when there is none."""
        return max(0.0, self._until - now)

    def next_start(self, now: float) -> float:
        """Return the seconds until a request may start, at its end or as a probe."""
        return max(0.0, min(self._until, self._probe_at) - now)

    def allows(self, permit: Permit, now: float) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return permit == self._probe or now >= self._until

    def granted(self, permit: Permit) -> None:
        """Note a request that starts: within the cooldown it is the probe."""
        if permit.at < self._until:
            self._probe, self._probe_at = permit, permit.at + PROBE_INTERVAL

    def unused(self, permit: Permit) -> None:
        """Let another request probe: this one was not sent."""
        if permit == self._probe:
            self._probe, self._probe_at = None, -math.inf

    def let_through(self, permit: Permit, *, is_current: bool) -> None:
        """Note a response other than 429; `is_current` tells whether it was sent after the cooldown."""
        if permit == self._probe:
            self._until = -math.inf
        if is_current:
            if self._grown and not self._had_success:
                self._kept = self.lasted
            self._had_success = True

    def start(self, permit: Permit, *, now: float, wait: float, jitter: float) -> None:
        """Start with the first 429 of a period: for `wait` seconds, or longer if that was too short before."""
        self._grown = 0 if self._had_success else self._grown + 1
        self._had_success, shortest = False, wait
        if self._grown == 0 and self._kept > wait:
            shortest, self._kept = self._kept, self._kept * KEPT_SHARE
        longest = max(shortest, min(math.ldexp(wait, min(self._grown, MOST_DOUBLINGS)), LONGEST_GROWTH))
        self.lasted = shortest + jitter * (longest - shortest)
        until = now + self.lasted
        self._until = until if permit == self._probe else max(self._until, until)
        self._probe_at = now + PROBE_INTERVAL

    def extend(self, until: float, *, now: float) -> None:
        """Note a further 429 of the same period."""
        self._until, self._probe_at = max(self._until, until), now + PROBE_INTERVAL

    def hold(self, until: float) -> None:
        """Set its end, as the server of a shared limit tells it."""
        self._until = until

    def postpone_probe(self, now: float) -> None:
        """Send no probe in the next minute."""
        self._probe_at = now + PROBE_INTERVAL


class SlowStart:
    """How many may be in flight: after a 429 one, and one more for each response, so it doubles with each round trip.

    Time is divided into periods, which begin with a 429. A permit belongs to the period in which it was granted, by its
    number. Slow requests of the periods before count only towards `most`, and do not keep the window shut.
    """

    __slots__ = ("_began", "_in_period", "_most", "_open", "_previous", "in_flight")

    def __init__(self, most: int) -> None:
        self._most = self._open = most
        self._in_period = self._began = self._previous = 0
        #: Requests that have not ended, of all periods.
        self.in_flight: int = 0

    @property
    def is_full(self) -> bool:
        """Whether none may start until another ends."""
        return self._in_period >= self._open or self.in_flight >= self._most

    def is_recent(self, permit: Permit) -> bool:
        """Return whether a permit was granted in this period or the one before."""
        return permit.number > self._previous

    def granted(self) -> None:
        """Note a request that starts."""
        self.in_flight += 1
        self._in_period += 1

    def ended(self, permit: Permit) -> bool:
        """Note a request that has ended, and return whether it was granted in this period."""
        is_current = permit.number > self._began
        self.in_flight -= 1
        self._in_period -= is_current
        return is_current

    def open(self) -> None:
        """Let one more start, after a response."""
        self._open = min(self._open + 1, self._most)

    def narrow(self) -> None:
        """Let one start, and others after its response."""
        self._open = min(self._in_period + 1, self._most)

    def restart(self, number: int) -> None:
        """Begin a period after a 429: later permits have higher numbers."""
        self._previous, self._began = self._began, number
        self._in_period, self._open = 0, 1

    def forget(self) -> None:
        """Forget what is in flight: nothing will end it."""
        self.in_flight = self._in_period = 0


class Window:
    """Decides when the next request may start; each of four parts decides by itself: see there.

    `next_start` asks and changes nothing. `advance` tells that time has passed: call it before.
    """

    def __init__(self, *, max_in_flight: int, rates: Sequence[RateLimit] = ()) -> None:
        self._cooldown, self._slow_start, self._learned = Cooldown(), SlowStart(max_in_flight), LearnedRate()
        self._known = [(rate.requests, rate.counted_for) for rate in rates]
        #: When permits were granted, as long as a rate counts them.
        self._granted: deque[float] = deque()
        self._number = 0

    @property
    def in_flight(self) -> int:
        """Permits that have not ended."""
        return self._slow_start.in_flight

    @property
    def is_full(self) -> bool:
        """Whether none may start until another ends."""
        return self._slow_start.is_full

    def cooldown_left(self, now: float) -> float:
        """Return the seconds until the cooldown ends; 0 when there is none."""
        return self._cooldown.left(now)

    def advance(self, now: float) -> None:
        """Learn from the last 429 when its cooldown is over, and try a faster rate when it is time for that."""
        learned = self._learned
        if (learned.limit is None and learned.is_settled) or self._cooldown.next_start(now) > 0:
            return
        learned.settle(now, cost=self._cooldown.lasted)
        if self.is_full or not learned.is_probe_due(now):
            return
        if learned.limit is not None and self._until_free(*learned.limit, now) > 0:
            self._slow_start.narrow()  # it may fail
            learned.try_faster(now, cost=self._cooldown.lasted)

    def next_start(self, now: float) -> float | None:
        """Return the seconds until one more may start: 0 for now, None for until another ends."""
        if (wait := self._cooldown.next_start(now)) > 0:
            return wait
        if self.is_full:
            return None
        return max([0.0, *[self._until_free(*rate, now) for rate in self._rates()]])

    def _rates(self) -> list[tuple[int, float]]:
        return self._known if self._learned.limit is None else [*self._known, self._learned.limit]

    def _until_free(self, requests: int, seconds: float, now: float) -> float:
        is_counted = len(self._granted) >= requests
        return max(self._granted[-requests] + seconds - now, 0.0) if is_counted else 0.0

    def may_send(self, permit: Permit, now: float) -> bool:
        """Return whether a permit still holds: a cooldown may have started since it was granted."""
        return self._cooldown.allows(permit, now)

    def begin(self, now: float) -> Permit:
        """Grant a permit."""
        self._number += 1
        permit = Permit(self._number, now)
        self._slow_start.granted()
        self._cooldown.granted(permit)
        self._learned.granted(now)
        if rates := self._rates():
            longest = max([seconds for _, seconds in rates])
            while self._granted and self._granted[0] + longest <= now:
                self._granted.popleft()
            self._granted.append(now)
        return permit

    def abandoned(self, permit: Permit) -> None:
        """End a request without a response."""
        self._slow_start.ended(permit)

    def unused(self, permit: Permit) -> None:
        """Return a permit of which nothing was sent, as if it had never been granted."""
        self._slow_start.ended(permit)
        self._cooldown.unused(permit)
        with suppress(ValueError):  # it is too old to count
            self._granted.remove(permit.at)

    def responded(self, permit: Permit) -> None:
        """End a request with a response other than 429, and open the window where that shows room."""
        is_current = self._slow_start.ended(permit)
        self._cooldown.let_through(permit, is_current=is_current)
        if is_current if self._learned.is_settled else self._slow_start.is_recent(permit):
            self._learned.let_through()
        if is_current:
            self._slow_start.open()

    def rate_limited(self, permit: Permit, *, now: float, wait: float, jitter: float = 0.0) -> None:
        """End a request with a 429: only the first one of a period begins another period."""
        if not self._slow_start.ended(permit):
            self._cooldown.extend(now + wait, now=now)
            return
        self._cooldown.start(permit, now=now, wait=wait, jitter=jitter)
        self._slow_start.restart(self._number)
        self._learned.rate_limited(permit.at, wait=wait)

    def extend(self, until: float, *, now: float) -> None:
        """Prolong the cooldown because of a 429 of a request that this window has not granted."""
        self._cooldown.extend(until, now=now)

    def forget(self) -> None:
        """Forget the permits that are out: nothing will end them."""
        self._slow_start.forget()

    def postpone_probe(self, now: float) -> None:
        """Send no probe in the next minute: the server of a shared limit, which granted them so far, is lost."""
        self._cooldown.postpone_probe(now)

    def hold(self, until: float) -> None:
        """Set when the cooldown ends, as the server of a shared limit reports it."""
        self._cooldown.hold(until)
