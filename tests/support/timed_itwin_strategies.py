"""Hypothesis strategies for `TimedITwins`: times that often coincide, and orders that a service may have."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from tests.support.timed_itwins import DAY

ZONES = st.sampled_from([UTC, timezone(timedelta(hours=-5))])
MOMENTS = st.builds(
    lambda number, zone: (DAY + timedelta(microseconds=number // 3 * 10 ** (number % 7))).astimezone(zone),
    st.integers(0, 40),
    ZONES,
)
TIMES = st.lists(MOMENTS | st.none() | st.just("lately"), max_size=120)
ORDERS = st.sampled_from(["sorts", "sorts nulls last", "ignores", "rejects"])


def within_the_cap(times: list[datetime | str | None], cap: int) -> bool:
    """Whether fewer iTwins than the cap share one time, or have none."""
    known = [time if isinstance(time, datetime) else None for time in times]
    return all(known.count(time) < cap for time in known)
