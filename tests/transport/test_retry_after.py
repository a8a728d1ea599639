"""The headers that say when to retry: valid and invalid values, and the choice between several."""

from datetime import UTC, datetime
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import example, given, strategies as st
from itwin_platform._names import HEADERS
from itwin_platform_transport.retry_after import parse_retry_after, retry_after_of

from tests.support.examples import CHARACTERS, strings

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DATE, LATER = "Sun, 01 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 12:00:20 GMT"


@pytest.mark.parametrize(
    ("value", "date", "expected"),
    [
        ("1", None, 1.0),
        (" 30 ", None, 30.0),
        ("007", None, 7.0),
        ("0.25", None, 0.25),
        ("99999999999999999999", None, 1e20),
        (LATER, DATE, 20.0),
        (LATER, None, 20.0),
        (LATER, "Sun, 01 Mar 2026 12:00:15 GMT", 5.0),
        (LATER, "yesterday", 20.0),
        ("Sunday, 01-Mar-26 12:00:20 GMT", DATE, 20.0),
        ("Sun Mar  1 12:00:20 2026", DATE, 20.0),
        *((f"Sun, 01 Mar 2026 12:00:20 {zone}", DATE, 20.0) for zone in ("UTC", "gmt", "Z", "+0000", "-0000", "")),
        *((f"Sun, 01 Mar 2026 14:00:20 {zone}", DATE, 20.0) for zone in ("+0200", "+02:00", "+02", "+0200 (CEST)")),
        *((f"Sun, 01 Mar 2026 14:00:20 {zone}+0200", DATE, 20.0) for zone in ("GMT", "UTC")),
        *((f"Sun, 01 Mar 2026 07:00:20 {zone}", DATE, 20.0) for zone in ("-0500", "-05:00", "EST")),
        *((f"Sunday, 01-Mar-26 {time}", DATE, 20.0) for time in ("12:00:20 -0000", "14:00:20 +0200")),
        ("Sun Mar  1 12:00:20 UTC 2026", DATE, 20.0),
        ("sun, 1 mar 2026 12:00:20 gmt", DATE, 20.0),
        ("1 March 2026 12:00:20 GMT", DATE, 20.0),
        ("So, 01 Mar 2026 12:00:20 GMT", DATE, 20.0),
        (format_datetime(NOW.replace(second=20)), format_datetime(NOW.replace(tzinfo=None)), 20.0),
        *((f"2026-03-01T12:00:20{zone}", DATE, 20.0) for zone in ("", "Z", "+00:00", ".000000Z")),
        ("2026-03-01 14:00:20+02:00", "2026-03-01T12:00:00Z", 20.0),
        ("1, 1", None, 1.0),
        ("2, 5", None, 5.0),
        ("5,2 , soon", None, 5.0),
        ("1,5", None, 5.0),
        (f"3, {LATER}, 2", DATE, 20.0),
        (f"{LATER}, 30", DATE, 30.0),
        (f"{DATE}, 4", DATE, 4.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DATE, (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - NOW).total_seconds()),
    ],
)
def test_a_valid_delay_is_parsed(value: str, date: str | None, expected: float) -> None:
    """Seconds, and dates of the standard library relative to the Date of the response; the longest one counts."""
    assert parse_retry_after(value, date=date, now=NOW) == expected


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "0", "0.0", "000", "-1", "+1", "1e3", "0x10", "1_000", ".5", "5.", "1.2.3", "1;2"),
        *("nan", "NaN", "inf", "Infinity", "-inf", "soon", "1s", "1 s", "\u0661", "\u00b2", "9" * 400, "\x00"),
        *(",", ", 0,", f"{DATE}, {DATE}", "Sun,", "Sunday"),
        *("Sun, 01 Mar 2026 11:59:59 GMT", DATE, "Mon, 32 Mar 2026 12:00:20 GMT", "Sun, 01 Mar 99999 12:00:20 GMT"),
        *("Sun, 01 Mar 2026 12:00:61 GMT", "Sun, 01 Foo 2026 12:00:20 GMT"),
        f"Sun, 01 Mar {'9' * 20} 12:00:20 GMT",
        *(f"Sun, 01 Mar 2026 12:00:20 {zone}" for zone in ("CEST", "CET", "IST", "+9900", "GMT+0", "+CET", "(CEST)")),
        *("Sunday, 01-Mar-26 12:00:20 CEST", "Sun Mar  1 12:00:20 CEST 2026", "2026-03-01T12:00:20 CEST"),
        "Sun, 01 Mar 202\u0666 12:00:20 GMT",
    ],
)
def test_an_invalid_delay_counts_as_absent(value: str) -> None:
    """Values that are zero, negative, infinite, past or malformed, and times in an unknown zone, are no delay."""
    assert parse_retry_after(value, date=DATE, now=NOW) is None


@pytest.mark.parametrize(
    ("documented", "seen", "expected"),
    [(None, None, None), ("3", "9", 3.0), (None, "9", 9.0), ("soon", "9", 9.0), (LATER, None, 1.0)],
)
def test_either_header_names_the_delay(documented: str | None, seen: str | None, expected: float | None) -> None:
    """The documented header comes before the second one, and a date is relative to the Date of its response."""
    headers = {"Retry-After": documented, "iTwinPlatform-RateLimit-Retry-After-Seconds": seen}
    sent = httpx.Headers({name: value for name, value in headers.items() if value is not None})
    sent["Date"] = "Sun, 01 Mar 2026 12:00:19 GMT"  # the clock of this machine may be wrong
    assert retry_after_of(sent, names=HEADERS.retry_after, now=NOW) == expected


DATES = st.from_regex(r"(Mon|Sun)[a-z]*,? [ 0-9A-Za-z:-]{0,40}", fullmatch=True, alphabet=CHARACTERS)


@given(strings() | DATES, st.none() | strings())
@example("Mon, 1 Jan 0001 00:00:00 -2359", "Fri, 31 Dec 9999 23:59:59 -2359")
@example("Mon 0 Jan -0", "Sun - - - -")
def test_no_header_makes_the_parser_raise(value: str, date: str | None) -> None:
    """For any headers, the result is a number of seconds above zero, or None."""
    seconds = parse_retry_after(value, date=date, now=NOW)
    assert seconds is None or 0 < seconds < float("inf")
