"""When the service allows a retry, read from the headers of a response. Source: section 7."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: A second set of header names has been seen beside the documented one; either is read.
_HEADERS = ("retry-after", "itwinplatform-ratelimit-retry-after-seconds")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_HTTP_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[A-Za-z]*,? [ 0-9A-Za-z:-]+", re.ASCII)


def retry_after_of(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the delay that a response names, in seconds; None when it names none that counts."""
    for name in _HEADERS:
        if (value := headers.get(name)) is not None:
            seconds = parse_retry_after(value, date=headers.get("date"), now=now)
            if seconds is not None:
                return seconds
    return None


def parse_retry_after(value: str | None, *, date: str | None, now: datetime) -> float | None:
    """Parse the value of a `retry-after` header.

    Args:
        value: seconds, with or without decimals, or an HTTP date; two of them in one header count as none.
        date: the Date header of the response, which an HTTP date is relative to.
        now: the wall clock, used when the response has no Date.

    Returns:
        The seconds to wait; None when the value is unusable (absent, zero, past, or anything else).
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        return seconds if 0 < seconds < math.inf else None
    until = _parse_http_date(text)
    if until is None:
        return None
    seconds = (until - (_parse_http_date((date or "").strip()) or now)).total_seconds()
    return seconds if seconds > 0 else None


def _parse_http_date(text: str) -> datetime | None:
    if not _HTTP_DATE.fullmatch(text):
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
