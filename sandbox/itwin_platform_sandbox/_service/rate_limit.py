"""The rate limit of each token, and the forms of `retry-after`. Source: section 8, "Rate limiting"."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Annotated, Literal

import msgspec

from .json_values import LARGEST_NUMBER, FieldError, Positive, checked

RetryAfter = Literal["seconds", "decimals", "date", "none", "garbage", "huge"]

# The delay of the form `huge`: more seconds than a datetime can add.
HUGE = 10**15


def retry_after_headers(form: RetryAfter, delay: float, now: datetime) -> tuple[tuple[str, str], ...]:
    """Return the header `retry-after` for a delay in seconds; nothing for `none`. Section 8 describes `seconds`."""
    if form == "none":
        return ()
    seconds = max(1, math.ceil(delay))
    text = {
        "seconds": str(seconds),
        "decimals": f"{math.ceil(delay * 1000) / 1000:.3f}",
        "date": http_date(_next_full_second(now + timedelta(seconds=delay))),
        "garbage": "soon",
        "huge": str(HUGE),
    }[form]
    return (("retry-after", text),)


def _next_full_second(time: datetime) -> datetime:
    # Rounded up, because a date has full seconds, and a client that retries too early is rate limited again.
    return time if time.microsecond == 0 else time.replace(microsecond=0) + timedelta(seconds=1)


def http_date(time: datetime) -> str:
    """Return an aware time in the form of HTTP headers (RFC 9110, section 5.6.7)."""
    return format_datetime(time.astimezone(UTC), usegmt=True)


class ServiceRateLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At most `requests` (a positive count) per `per` seconds, counted for each token.

    A period starts with the first request of a token. `retry_after` is the form of the delay in a 429 response.
    """

    requests: Positive
    per: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_NUMBER)]
    retry_after: RetryAfter = "seconds"

    def __str__(self) -> str:
        return f"{self.requests} requests in {self.per:g} s for each token"


def rate_limit_of(rate: object) -> ServiceRateLimit:
    """Return a rate limit from `requests/seconds` such as `100/60`, or checked; `ValueError` for anything else."""
    if isinstance(rate, ServiceRateLimit):
        return checked(ServiceRateLimit, msgspec.structs.asdict(rate))
    if not isinstance(rate, str):
        raise FieldError("rate", f'must be a string such as "100/60" or a ServiceRateLimit, not {rate!r}')
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9}(?:\.\d{1,9})?)", rate.strip())
    if match is None:
        raise FieldError("rate", f"must be requests/seconds such as 100/60, not {rate[:60]!r}")
    return checked(ServiceRateLimit, {"requests": int(match[1]), "per": float(match[2])})


class RequestCounter:
    """Counts the requests of each token against a rate limit."""

    def __init__(self, limit: ServiceRateLimit, clock: Callable[[], float]) -> None:
        self.limit = limit
        self._clock = clock
        self._periods: dict[str, tuple[float, int]] = {}

    def wait(self, token: str) -> float | None:
        """Count one request: return None if it is allowed, else the seconds until the next one is."""
        now = self._clock()
        start, count = self._periods.get(token, (now, 0))
        if now >= start + self.limit.per:
            start, count = now, 0
        is_allowed = count < self.limit.requests
        self._periods[token] = start, count + is_allowed
        return None if is_allowed else start + self.limit.per - now
