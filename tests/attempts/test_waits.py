"""How long is waited: what `retry-after` says, and what doubles where it says nothing."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import BackoffPolicy

from tests.support.examples import CHARACTERS, strings
from tests.support.faces import Progress, delay_before, moment_after, parse_retry_after, retry_after_of

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DATE = "Sun, 01 Mar 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("value", "date", "expected"),
    [
        ("1", None, 1.0),
        (" 30 ", None, 30.0),
        ("007", None, 7.0),
        ("0.25", None, 0.25),
        ("1.5", None, 1.5),
        ("99999999999999999999", None, 1e20),
        ("Sun, 01 Mar 2026 12:00:20 GMT", DATE, 20.0),
        ("Sun, 01 Mar 2026 12:00:20 GMT", None, 20.0),
        ("Sun, 01 Mar 2026 12:00:20 GMT", "Sun, 01 Mar 2026 12:00:15 GMT", 5.0),
        ("Sun, 01 Mar 2026 12:00:20 GMT", "yesterday", 20.0),
        ("Sunday, 01-Mar-26 12:00:20 GMT", DATE, 20.0),
        ("Sun Mar  1 12:00:20 2026", DATE, 20.0),
        ("Sun, 01 Mar 2026 07:00:20 -0500", DATE, 20.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DATE, (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - NOW).total_seconds()),
    ],
)
def test_a_wait_that_is_said_is_read(value: str, date: str | None, expected: float) -> None:
    """Seconds, decimals, and the three forms of an HTTP date, taken against the response's own Date."""
    assert parse_retry_after(value, date=date, now=NOW) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", " ", "0", "0.0", "000", "-1", "+1", "1e3", "0x10", "1_000", ".5", "5.", "1.2.3", "1,5", "1;2"),
        *("nan", "NaN", "inf", "Infinity", "-inf", "soon", "1s", "1 s", "\u0661", "\u00b2", "9" * 400, "\x00"),
        *("1, 1", "1, 2", "Sun, 01 Mar 2026 12:00:20 GMT, Sun, 01 Mar 2026 12:00:20 GMT"),
        *("Sun, 01 Mar 2026 11:59:59 GMT", DATE, "Mon, 32 Mar 2026 12:00:20 GMT", "Sun, 01 Mar 99999 12:00:20 GMT"),
        *("Sun,", "Sunday", "2026-03-01T12:00:20Z", "Sun, 01 Mar 2026 12:00:61 GMT", "Sun, 01 Foo 2026 12:00:20 GMT"),
    ],
)
def test_what_cannot_be_used_counts_as_absent(value: str | None) -> None:
    """Zero, negative, infinite, doubled, past and garbled values name no wait."""
    assert parse_retry_after(value, date=DATE, now=NOW) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"Retry-After": "3", "iTwinPlatform-RateLimit-Retry-After-Seconds": "9"}, 3.0),
        ({"iTwinPlatform-RateLimit-Retry-After-Seconds": "9"}, 9.0),
        ({"Retry-After": "soon", "iTwinPlatform-RateLimit-Retry-After-Seconds": "9"}, 9.0),
    ],
)
def test_either_header_names_the_delay(headers: dict[str, str], expected: float | None) -> None:
    """The documented header goes first, then the second one that has been seen."""
    assert retry_after_of(httpx.Headers(headers), now=NOW) == expected


DATES = st.from_regex(r"(Mon|Sun)[a-z]*,? [ 0-9A-Za-z:-]{0,40}", fullmatch=True, alphabet=CHARACTERS)


@given(strings() | DATES, st.none() | strings())
@example("Mon, 1 Jan 0001 00:00:00 -2359", "Fri, 31 Dec 9999 23:59:59 -2359")
@example("Mon 0 Jan -0", "Sun - - - -")
def test_no_header_makes_it_raise(value: str, date: str | None) -> None:
    """Whatever the headers hold, the result is a number of seconds above zero, or None."""
    seconds = parse_retry_after(value, date=date, now=NOW)
    assert seconds is None or 0 < seconds < float("inf")


@given(
    st.integers(min_value=1, max_value=10**9),
    st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2900, 1, 1)),
)
def test_a_date_counts_by_the_clock_of_the_service(wait: int, date: datetime) -> None:
    """However wrong the service's clock, the wait is the difference between its own two times."""
    date = date.replace(microsecond=0, tzinfo=UTC)
    until = format_datetime(date + timedelta(seconds=wait), usegmt=True)
    assert parse_retry_after(until, date=format_datetime(date, usegmt=True), now=NOW) == wait


@pytest.mark.parametrize(
    ("attempts", "refusals", "jitter", "expected"),
    [
        (1, 0, 0.0, 0.5),
        (2, 0, 0.0, 1.0),
        (3, 0, 0.0, 2.0),
        (1, 2, 0.0, 2.0),
        (0, 1, 0.0, 0.5),
        (7, 0, 0.0, 5.0),
        (10_000, 10_000, 0.0, 5.0),
        (0, 0, 0.0, 0.5),
        (1, 0, 1.0, 0.625),
        (7, 0, 1.0, 5.5),
    ],
)
def test_a_wait_that_is_not_said_doubles(attempts: int, refusals: int, jitter: float, expected: float) -> None:
    """From half a second to five, and jitter adds at most a quarter and half a second."""
    progress = Progress(attempts=attempts, rate_limits=refusals)
    assert delay_before(retry_after=None, progress=progress, policy=BackoffPolicy(), jitter=jitter) == expected


@pytest.mark.parametrize(("named", "jitter", "expected"), [(1.0, 0.0, 1.0), (1.0, 1.0, 1.05), (30.0, 1.0, 30.5)])
def test_jitter_only_adds_to_a_wait_that_is_said(named: float, jitter: float, expected: float) -> None:
    """What the service says is a floor: a twentieth and half a second come on top at most."""
    wait = delay_before(retry_after=named, progress=Progress(attempts=4), policy=BackoffPolicy(), jitter=jitter)
    assert wait == pytest.approx(expected)


def test_jitter_makes_no_wait_too_long() -> None:
    """Up to max_wait jitter adds nothing past it; what the service says beyond stays what it is."""
    policy = BackoffPolicy(max_wait=60.0)
    for named, expected in ((59.9, 60.0), (60.0, 60.0), (61.0, 61.0)):
        wait = delay_before(retry_after=named, progress=Progress(), policy=policy, jitter=1.0)
        assert wait == expected


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (90.0, datetime(2026, 3, 1, 12, 1, 30, tzinfo=UTC)),
        *((wait, None) for wait in (None, 1e15, 1e300, float("inf"))),
    ],
)
def test_a_moment_is_the_wait_after_now(wait: float | None, expected: datetime | None) -> None:
    """`retry_at` is now and the wait; one that no calendar holds has no end to name."""
    assert moment_after(NOW, wait) == expected
