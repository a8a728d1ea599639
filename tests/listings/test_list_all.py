"""`list_all`: a listing above the cap is read in disjoint, complete ranges of time."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given, strategies as st
from itwin_platform._listings.resume import TimeRange, condition, split

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
        (TimeRange(since=DAY), None, "t ge 2026-01-01T00:00:00.000000Z"),
        (TimeRange(until=DAY.replace(microsecond=5)), None, "t lt 2026-01-01T00:00:00.000005Z"),
        (
            TimeRange(since=DAY, until=day(1).astimezone(timezone(timedelta(hours=-5)))),
            "a eq 1 or b eq 2",
            "(a eq 1 or b eq 2) and t ge 2026-01-01T00:00:00.000000Z and t lt 2026-01-02T00:00:00.000000Z",
        ),
        (TimeRange(timeless=True), None, "t eq null"),
        (TimeRange(timeless=True), "a", "(a) and t eq null"),
    ],
)
def test_a_range_becomes_a_filter(time_range: TimeRange, within: str | None, expected: str | None) -> None:
    """Bounds are half open, times in UTC, and the filter of the caller holds in every range."""
    assert condition(time_range, "t", within=within) == expected


@pytest.mark.parametrize(
    ("time_range", "moment", "halves"),
    [
        (TimeRange(), day(2), (TimeRange(until=day(2)), TimeRange(since=day(2)))),
        (
            TimeRange(since=day(1), until=day(9)),
            day(2),
            (TimeRange(since=day(1), until=day(2)), TimeRange(since=day(2), until=day(9))),
        ),
        (
            TimeRange(since=day(5), until=day(9)),
            day(5),
            (TimeRange(since=day(5), until=day(5) + MOMENT), TimeRange(since=day(5) + MOMENT, until=day(9))),
        ),
        (TimeRange(since=day(5), until=day(5) + MOMENT), day(5), None),
        (TimeRange(since=day(5)), None, None),
        (TimeRange(), None, (TimeRange(until=EPOCH), TimeRange(since=EPOCH))),
        (TimeRange(until=EPOCH), None, None),
    ],
)
def test_a_range_is_split_in_two(
    time_range: TimeRange, moment: datetime | None, halves: tuple[TimeRange, TimeRange] | None
) -> None:
    """A range is split at the time that was seen, or one microsecond later where it begins there, or not at all."""
    assert split(time_range, moment) == halves


@given(TIMES, st.integers(2, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 2, 5]))
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
    """A listing below the cap is read without splitting it, and the first response tells the cap."""
    itwins = TimedITwins(times=days(14))
    assert len(read(itwins, "a eq 1")) == 14
    assert itwins.conditions == ["a eq 1"] * 5
    assert itwins.probes == 2


def test_one_look_for_each_range() -> None:
    """A range costs one request for one item in addition to its pages, and no page is discarded."""
    itwins = TimedITwins(times=days(150))
    assert len(read(itwins)) == 150
    ranges = 10
    timeless, learned = 1, 1
    assert itwins.probes == ranges + learned
    assert len(itwins.queries) == 150 // 5 + itwins.probes + timeless
    assert {(query["$select"], query["$top"]) for query in itwins.queries if "$select" in query} == {
        ("createdDateTime", "1")
    }


def test_ranges_are_read_concurrently() -> None:
    """`concurrency` requests stay in flight also where one range ends and the next begins."""
    itwins = TimedITwins(times=days(900), latency=1.0, cap=100, page_size=10)

    async def seconds() -> float:
        assert len(await itwins.pager(concurrency=8).collect()) == 900
        return asyncio.get_running_loop().time()

    passed = in_virtual_time(seconds())
    assert itwins.most_in_flight == 8
    assert passed <= 1.25 * len(itwins.queries) / 8 + 4


def test_ranges_come_in_the_order_of_time() -> None:
    """Earlier iTwins come first, those without a time last."""
    itwins = TimedITwins(times={"none": None} | dict(reversed(days(100).items())))
    assert read(itwins) == [*(str(number) for number in range(100)), "none"]


def test_memory_holds_the_ids_of_one_range() -> None:
    """The ids that detect duplicates are kept for the current range only."""
    itwins = TimedITwins(times=days(200))

    async def most_kept() -> int:
        pager = itwins.pager()
        return max([len(pager._run._seen) async for _ in pager])  # type: ignore[attr-defined]  # the run of list_all

    assert in_virtual_time(most_kept()) <= itwins.cap
