"""`list_all`: a listing above the cap is read in disjoint, complete ranges of time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, example, given, strategies as st
from itwin_platform._listings.list_all import condition
from itwin_platform._listings.resume import TimeRange

from tests.support.timed_itwin_strategies import ORDERS, TIMES, within_the_cap
from tests.support.timed_itwins import DAY, TimedITwins, day, days, read
from tests.support.virtual_time import in_virtual_time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("time_range", "within", "expected"),
    [
        (TimeRange(), None, None),
        (TimeRange(), "a eq 1 or b eq 2", "a eq 1 or b eq 2"),
        (TimeRange(since=DAY, timeless=False), None, "t ge 2026-01-01T00:00:00.000000Z"),
        (TimeRange(since=DAY), "a", "(a) and (t ge 2026-01-01T00:00:00.000000Z or t eq null)"),
        (TimeRange(until=DAY.replace(microsecond=5)), None, "t lt 2026-01-01T00:00:00.000005Z"),
        (
            TimeRange(since=DAY, until=day(1).astimezone(timezone(timedelta(hours=-5)))),
            "a eq 1 or b eq 2",
            "(a eq 1 or b eq 2) and t ge 2026-01-01T00:00:00.000000Z and t lt 2026-01-02T00:00:00.000000Z",
        ),
    ],
)
def test_a_range_becomes_a_filter(time_range: TimeRange, within: str | None, expected: str | None) -> None:
    """Bounds are half open, times in UTC, and the filter of the caller holds in every range."""
    assert condition(time_range, "t", within=within) == expected


@given(TIMES, st.integers(2, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 2, 5]))
@example([None, DAY, None, None], 4, 1, "ignores", 1).via("all of the second range is known, and reaches the cap")
def test_every_itwin_once(
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int
) -> None:
    """Every iTwin comes once, whatever the times and the order, if no time is shared by more than the cap."""
    assume(within_the_cap(times, cap))
    known = {str(number): time for number, time in enumerate(times)}
    itwins = TimedITwins(times=known, cap=cap, page_size=page_size, order=order)
    assert sorted(read(itwins, concurrency=concurrency), key=int) == [str(number) for number in range(len(times))]
    assert itwins.most_in_flight <= concurrency


def test_below_the_cap_nothing_is_split() -> None:
    """A listing below the cap takes the requests of its pages, one of one page a single request."""
    itwins = TimedITwins(times=days(14))
    assert len(read(itwins, "a eq 1")) == 14
    assert itwins.conditions == ["a eq 1"] * 3
    assert len(read(small := TimedITwins(times=days(5)), concurrency=10)) == 5
    assert len(small.queries) == 1


@pytest.mark.parametrize("concurrency", [1, 4, 10])
@pytest.mark.parametrize(("total", "most"), [(1_200, 1.3), (3_500, 1.15), (10_000, 1.15)])
@pytest.mark.parametrize("at_once", [1, 7])
def test_few_requests_beyond_the_pages(total: int, most: float, concurrency: int, at_once: int) -> None:
    """A listing beyond the cap takes few requests more than it has pages, also when iTwins share their times."""
    times = {str(number): DAY + timedelta(seconds=number // at_once) for number in range(total)}
    itwins = TimedITwins(times=times, cap=1000, page_size=100)
    assert len(read(itwins, concurrency=concurrency)) == total
    assert len(itwins.queries) <= most * total / 100


def test_ranges_come_in_the_order_of_time() -> None:
    """Earlier iTwins come first, those without a time where the service puts them."""
    itwins = TimedITwins(times={"none": None} | dict(reversed(days(100).items())))
    assert read(itwins) == ["none", *(str(number) for number in range(100))]


def test_memory_holds_the_ids_of_one_range() -> None:
    """The ids that detect duplicates are kept for the current range only."""
    itwins = TimedITwins(times=days(200))

    async def most_kept() -> int:
        pager = itwins.pager()
        return max([len(pager._run._seen) async for _ in pager])  # type: ignore[attr-defined]  # the run of list_all

    assert in_virtual_time(most_kept()) <= itwins.cap
