"""Limits that services have, and the shortest time in which each takes a number of requests."""

import math
from collections import deque


class FixedWindow:
    """Takes `requests` in each window of `per` seconds, which begins with its first request."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._start, self._count = -math.inf, 0

    def takes(self, now: float) -> bool:
        """Count a request and tell whether the limit allows it."""
        if now - self._start >= self._per:
            self._start, self._count = now, 0
        self._count += 1
        return self._count <= self._requests

    def ideal(self, calls: int) -> float:
        """Return the shortest time in which so many can be taken."""
        return (math.ceil(calls / self._requests) - 1) * self._per


class TokenBucket:
    """Holds `requests`, and is filled again evenly in `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        self._requests, self._per = requests, per
        self._level, self._seen = float(requests), -math.inf

    def takes(self, now: float) -> bool:
        """Count a request and tell whether the limit allows it."""
        rate = self._requests / self._per
        self._level = min(self._requests, self._level + (now - self._seen) * rate)
        self._seen = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def ideal(self, calls: int) -> float:
        """Return the shortest time in which so many can be taken."""
        return max(0.0, (calls - self._requests) * self._per / self._requests)


class Punishing(FixedWindow):
    """A fixed window that bans for `per` seconds whoever exceeds it; each early request starts the ban anew."""

    def __init__(self, requests: int, per: float) -> None:
        super().__init__(requests, per)
        self._banned_until = -math.inf

    def takes(self, now: float) -> bool:
        """Count a request and tell whether the limit allows it."""
        if now >= self._banned_until and super().takes(now):
            return True
        self._banned_until = now + self._per
        return False


class SlidingWindow(FixedWindow):
    """Takes at most `requests` in any `per` seconds."""

    def __init__(self, requests: int, per: float) -> None:
        super().__init__(requests, per)
        self._taken: deque[float] = deque(maxlen=requests)

    def takes(self, now: float) -> bool:
        """Count a request and tell whether the limit allows it."""
        if len(self._taken) == self._requests and now - self._taken[0] < self._per:
            return False
        self._taken.append(now)
        return True
