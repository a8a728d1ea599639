"""Rate limits of services, each with the shortest time in which it accepts a number of requests."""

import math
from collections import deque
from typing import Protocol


class Limit(Protocol):
    """A rate limit of a service."""

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        ...

    def left(self, now: float) -> float:
        """Return the seconds until a rejected request may be sent again."""
        ...


class FixedWindow:
    """A limit of `requests` in each window of `per` seconds, which begins with its first request."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._start, self._count = -math.inf, 0

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        if now - self._start >= self._per:
            self._start, self._count = now, 0
        self._count += 1
        return self._count <= self._requests

    def left(self, now: float) -> float:
        """Return the seconds until a rejected request may be sent again."""
        return self._start + self._per - now

    def ideal(self, calls: int) -> float:
        """Return the shortest time for this number of requests."""
        return (math.ceil(calls / self._requests) - 1) * self._per


class TokenBucket:
    """A bucket of `requests` tokens, which is refilled evenly in `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._level, self._seen = float(requests), -math.inf

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        rate = self._requests / self._per
        self._level = min(self._requests, self._level + (now - self._seen) * rate)
        self._seen = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def left(self, now: float) -> float:
        """Return the seconds until a rejected request may be sent again."""
        return (1 - self._level) * self._per / self._requests

    def ideal(self, calls: int) -> float:
        """Return the shortest time for this number of requests."""
        return max(0.0, (calls - self._requests) * self._per / self._requests)


class AlignedWindow(FixedWindow):
    """A limit of `requests` in each window of `per` seconds, aligned to a clock that starts at `phase`."""

    def __init__(self, requests: int, per: float, phase: float = 0.0) -> None:
        super().__init__(requests, per)
        self._phase = phase

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        start = math.floor((now + self._phase) / self._per) * self._per - self._phase
        if start != self._start:
            self._start, self._count = start, 0
        self._count += 1
        return self._count <= self._requests


class PunishingWindow(FixedWindow):
    """A fixed window with a ban after an excess request; each early request restarts the ban.

    Args:
        requests: requests that each window allows.
        per: seconds of a window.
        ban: seconds of a ban, as long as a window by default.
        says: seconds that the service names in `Retry-After`, the length of the ban by default.
    """

    def __init__(self, requests: int, per: float, *, ban: float | None = None, says: float | None = None) -> None:
        super().__init__(requests, per)
        self._ban = per if ban is None else ban
        self._says = self._ban if says is None else says
        self._banned_until = -math.inf

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        if now >= self._banned_until and super().accepts(now):
            return True
        self._banned_until = now + self._ban
        return False

    def left(self, now: float) -> float:
        """Return the seconds that the service names."""
        return self._says


class SlidingWindow(FixedWindow):
    """A limit of `requests` in any `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        super().__init__(requests, per)
        self._accepted: deque[float] = deque(maxlen=requests)

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        if len(self._accepted) == self._requests and now - self._accepted[0] < self._per:
            return False
        self._accepted.append(now)
        return True

    def left(self, now: float) -> float:
        """Return the seconds until a rejected request may be sent again."""
        return self._accepted[0] + self._per - now


class RisingLimit:
    """A limit that is replaced by a higher limit after `at` seconds."""

    def __init__(self, before: Limit, after: Limit, *, at: float) -> None:
        self._before, self._after, self._at = before, after, at

    def accepts(self, now: float) -> bool:
        """Count a request and return whether the limit allows it."""
        return self._current(now).accepts(now)

    def left(self, now: float) -> float:
        """Return the seconds until a rejected request may be sent again."""
        return self._current(now).left(now)

    def _current(self, now: float) -> Limit:
        return self._before if now < self._at else self._after
