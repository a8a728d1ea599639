"""The rate limit of each token, and the forms of `retry-after`. Source: section 8, "Rate limiting"."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Annotated, Literal, Protocol, get_args

import msgspec

from .json_values import LARGEST_NUMBER, FieldError, Positive, checked

RetryAfter = Literal["seconds", "decimals", "date", "none", "garbage", "huge"]
RETRY_AFTER_FORMS: tuple[str, ...] = get_args(RetryAfter)

# More seconds than a datetime can add.
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
    # A date has full seconds: rounded down, a client that obeys it would be rate limited again.
    return time if time.microsecond == 0 else time.replace(microsecond=0) + timedelta(seconds=1)


def http_date(time: datetime) -> str:
    """Return an aware time in the form of HTTP headers (RFC 9110, section 5.6.7)."""
    return format_datetime(time.astimezone(UTC), usegmt=True)


RateKind = Literal["fixed_window", "token_bucket"]


class RateLimitLike(Protocol):
    """A number of requests that are allowed in a number of seconds."""

    @property
    def requests(self) -> int:
        """The number of requests."""
        ...

    @property
    def per(self) -> float:
        """The number of seconds."""
        ...


class RateLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At most `requests` (a positive count) per `per` seconds, counted for each token.

    A `fixed_window` starts with the first request of a token and then counts up to `requests`; a `token_bucket` holds
    `requests` and is refilled evenly. `retry_after` is the form of the delay in a 429 response.
    """

    requests: Positive
    per: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_NUMBER)]
    kind: RateKind = "fixed_window"
    retry_after: RetryAfter = "seconds"

    def __str__(self) -> str:
        return f"{self.requests} requests in {self.per:g} s for each token ({self.kind})"


def rate_limit_of(rate: str | RateLimitLike) -> RateLimit:
    """Return a rate limit from `requests/seconds` such as `100/60`, or from a value; `ValueError` for anything else."""
    if not isinstance(rate, str):
        if not (hasattr(rate, "requests") and hasattr(rate, "per")):
            raise FieldError("rate", f'must be a string such as "100/60" or a RateLimit, not {rate!r}')
        details = msgspec.structs.asdict(rate) if isinstance(rate, RateLimit) else {}
        return checked(RateLimit, {"requests": rate.requests, "per": rate.per, **details})
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9}(?:\.\d{1,9})?)", rate.strip())
    if match is None:
        raise FieldError("rate", f"must be requests/seconds such as 100/60, not {rate[:60]!r}")
    return checked(RateLimit, {"requests": int(match[1]), "per": float(match[2])})


class RequestCounter:
    """The counts of the requests of every token, and one limit for each of them."""

    __slots__ = ("_clock", "_limit", "_states", "_step")

    def __init__(self, limit: RateLimit, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._step = _fixed_window if limit.kind == "fixed_window" else _token_bucket
        self._states: dict[str, tuple[float, float]] = {}

    @property
    def limit(self) -> RateLimit:
        """The limit that is counted against."""
        return self._limit

    @property
    def retry_after(self) -> RetryAfter:
        """The form of the delay in a 429 response."""
        return self._limit.retry_after

    def wait(self, token: str) -> float | None:
        """Count one request: return None if it is allowed, else the seconds until the next one is."""
        now = self._clock()
        wait, state = self._step(self._limit, now, self._states.get(token))
        self._states[token] = state
        return wait


def _fixed_window(
    limit: RateLimit, now: float, state: tuple[float, float] | None
) -> tuple[float | None, tuple[float, float]]:
    """Count one request; the state is the start of the window and the number of its requests."""
    start, count = state or (now, 0)
    if now >= start + limit.per:
        start, count = now, 0
    if count >= limit.requests:
        return start + limit.per - now, (start, count)
    return None, (start, count + 1)


def _token_bucket(
    limit: RateLimit, now: float, state: tuple[float, float] | None
) -> tuple[float | None, tuple[float, float]]:
    """Count one request; the state is the time of the last use and the level of the bucket then."""
    seen, level = state or (now, limit.requests)
    refill = limit.requests / limit.per
    level = min(limit.requests, level + (now - seen) * refill)
    # After exactly the delay of a 429 response, a rounding error must not leave the bucket short of 1.
    if level < 1 - 1e-9:
        return (1 - level) / refill, (now, level)
    return None, (now, level - 1)
