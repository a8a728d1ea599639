"""How many requests may be under way, as a state that is told the time: cooldown, slow start, steady rate."""

from collections import deque
from dataclasses import dataclass

from .._errors import UsageError


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A steady rate for those who know their tier: at most `requests` are begun in any `per` seconds.

    Source: section 8 (the numbers per tier are not shown there).

    Raises:
        UsageError: a number is not above zero.
    """

    requests: int
    per: float

    def __post_init__(self) -> None:
        if self.requests < 1 or not 0 < self.per < float("inf"):
            raise UsageError("RateLimit: requests must be at least 1 and per a finite number of seconds above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """Permission to send one request, with its cooldown period and its sequence number in that period."""

    period: int
    number: int


class WaitTooLongError(Exception):
    """A cooldown of `seconds` more is longer than a caller is ready to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the cooldown lasts {self.seconds:g} s more"


class Window:
    """Decides whether a request may begin now.

    After a 429 nobody begins until the cooldown ends. Then the window opens from 1, by one for each answer (so it
    doubles with each round), up to as many requests as the stretch before let through; past those it opens from 1
    again, because that is where the next refusal is likely. Only the first 429 of a cooldown closes it. Requests from
    before it count to the most that may be under way, but a slow one of them does not keep the window shut.
    """

    __slots__ = (
        *("_allowed", "_begun", "_cooldown_until", "_in_flight", "_in_stretch", "_learned"),
        *("_most", "_open", "_rate", "_recent", "_stretch", "_unsent"),
    )

    def __init__(self, *, max_in_flight: int, rate: RateLimit | None = None) -> None:
        if max_in_flight < 1:
            raise UsageError("Gate: max_in_flight must be at least 1")
        self._most = max_in_flight
        self._rate = rate
        self._recent: deque[float] = deque(maxlen=rate.requests if rate else 0)
        self._in_flight = self._in_stretch = 0
        self._open = max_in_flight
        self._cooldown_until = float("-inf")
        self._stretch = 0
        self._begun = 0
        self._allowed = 0
        self._unsent: set[Permit] = set()
        self._learned: int | None = None

    @property
    def in_flight(self) -> int:
        """Requests that have begun and not ended."""
        return self._in_flight

    def cooldown_left(self, now: float) -> float:
        """Seconds until the cooldown ends; 0 where there is none."""
        return max(0.0, self._cooldown_until - now)

    def wait(self, now: float) -> float | None:
        """Tells how long to wait before one more may begin: 0 for now, None for until another ends."""
        timed = self.cooldown_left(now)
        if self._rate is not None and timed == 0:
            while self._recent and self._recent[0] + self._rate.per <= now:
                self._recent.popleft()
            if len(self._recent) + len(self._unsent) >= self._rate.requests:
                return self._recent[0] + self._rate.per - now if self._recent else None
        if timed > 0:
            return timed
        return 0.0 if self._in_stretch < self._open and self._in_flight < self._most else None

    def begin(self, now: float) -> Permit:
        """Counts a request as begun."""
        self._in_flight += 1
        self._in_stretch += 1
        self._begun += 1
        if self._begun == self._learned:
            self._open = 1
        permit = Permit(period=self._stretch, number=self._begun)
        self._unsent.add(permit)
        return permit

    def sending(self, permit: Permit, *, now: float) -> None:
        """Count the request against the rate, from now on."""
        self._unsent.discard(permit)
        self._recent.append(now)

    def end(self, permit: Permit) -> None:
        """Counts a request as ended without any answer; one that was not sent uses up nothing of the rate."""
        self._unsent.discard(permit)
        self._in_flight -= 1
        self._in_stretch -= permit.period == self._stretch

    def answered(self, permit: Permit) -> None:
        """Counts a request as answered, other than by 429, and opens the window where that shows room."""
        self.end(permit)
        if permit.period == self._stretch - 1:
            self._learned = (self._learned or 0) + 1
        if permit.period != self._stretch:
            return
        self._allowed += 1
        learned_reached = self._learned is not None and self._begun >= self._learned
        if not learned_reached or (self._learned is not None and permit.number > self._learned):
            self._open = min(self._open + 1, self._most)

    def rate_limited(self, permit: Permit, *, now: float, wait: float) -> None:
        """Counts a request as answered by 429: nobody begins for `wait` seconds, then the window opens slowly."""
        self.end(permit)
        self._cooldown_until = max(self._cooldown_until, now + wait)
        if permit.period != self._stretch:
            return
        self._stretch += 1
        self._learned = self._allowed or None
        self._allowed = self._begun = self._in_stretch = 0
        self._open = 1
