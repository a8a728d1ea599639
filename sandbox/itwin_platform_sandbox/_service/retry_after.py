"""The forms of `retry-after` in a response."""

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal, get_args

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
