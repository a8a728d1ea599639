"""Parse the headers that say when to retry: seconds, or a date in any form that the standard library parses."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
#: A numeric zone with a colon, without minutes, or behind the name of UTC.
_ZONE = re.compile(r"\s(?:GMT|UTC)?([+-][0-9]{2}):?([0-9]{2})?$", re.ASCII)


def retry_after_of(headers: Mapping[str, str], *, names: Iterable[str], now: datetime) -> float | None:
    """Return the delay that a response names in one of these headers, in seconds; None when none counts."""
    for name in names:
        if (value := headers.get(name)) is not None:
            seconds = parse_retry_after(value, date=headers.get("date"), now=now)
            if seconds is not None:
                return seconds
    return None


def parse_retry_after(value: str, *, date: str | None, now: datetime) -> float | None:
    """Parse the value of a `retry-after` header.

    Args:
        value: seconds, with or without decimals, or a date; of several in one header the longest counts.
        date: the Date header of the response, which a date in `value` is relative to.
        now: the wall clock, used when the response has no Date.

    Returns:
        The seconds to wait; None when the value is unusable: zero, past, in an unknown zone, or anything else.
    """
    # This also cuts the day of the week off a date, which is parsed without it.
    delays = (_seconds_of(part.strip(), date=date, now=now) for part in value.split(","))
    return max((seconds for seconds in delays if seconds is not None), default=None)


def _seconds_of(text: str, *, date: str | None, now: datetime) -> float | None:
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        return seconds if 0 < seconds < math.inf else None
    until = _parse_date(text)
    if until is None:
        return None
    sent_at = now if date is None else _parse_date(date.strip()) or now
    seconds = (until - sent_at).total_seconds()
    return seconds if seconds > 0 else None


def _parse_date(text: str) -> datetime | None:
    """Parse a date of HTTP or ISO 8601, in UTC if it has no zone; None for an unknown zone, and for other texts."""
    if not text.isascii():
        return None
    if (moment := _parsed(datetime.fromisoformat, text)) is not None:
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    text = _ZONE.sub(lambda zone: f" {zone[1]}{zone[2] or '00'}", text)
    moment = _parsed(parsedate_to_datetime, text)
    if moment is not None and moment.tzinfo is None:
        # `parsedate_to_datetime` returns no zone for "-0000", for an unknown name, and for none. Only in the last case
        # it parses a zone that is appended, so that an unknown name stays without one.
        moment = _parsed(parsedate_to_datetime, f"{text.removesuffix('-0000')} +0000")
    return moment if moment is not None and moment.tzinfo is not None else None


def _parsed(parse: Callable[[str], datetime], text: str) -> datetime | None:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return parse(text)
    return None
