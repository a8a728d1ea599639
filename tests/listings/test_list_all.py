"""`list_all`: a listing above the cap is read completely, range by range; its obstacles, and where it continues."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import httpx
import pytest
from hypothesis import assume, example, given, strategies as st
from itwin_platform import NotSentError, PagingError, TruncatedWarning, UnprocessableError

from tests.support.timed_itwin_strategies import ORDERS, TIMES, within_the_cap
from tests.support.timed_itwins import DAY, TimedITwins, day, days, read
from tests.support.virtual_time import in_virtual_time


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
    summary = "id,class,subClass,type,number,displayName,status"
    assert small.queries == [{"$select": f"{summary},createdDateTime", "$orderby": "createdDateTime ASC", "$top": "5"}]


@pytest.mark.parametrize("concurrency", [1, 4, 10])
@pytest.mark.parametrize(("total", "most"), [(1_200, 1.3), (3_500, 1.15)])
@pytest.mark.parametrize("at_once", [1, 7])
def test_few_requests_beyond_the_pages(total: int, most: float, concurrency: int, at_once: int) -> None:
    """A listing beyond the cap takes few requests more than it has pages, also when iTwins share their times."""
    times = {str(number): DAY + timedelta(seconds=number // at_once) for number in range(total)}
    itwins = TimedITwins(times=times, cap=1000, page_size=100)
    assert len(read(itwins, concurrency=concurrency)) == total
    assert len(itwins.queries) <= most * total / 100


@pytest.mark.parametrize("time", ["createdDateTime", "lastModifiedDateTime"])
def test_ranges_come_in_the_order_of_time(time: str) -> None:
    """Earlier iTwins come first, those without a time where the service puts them."""
    itwins = TimedITwins(times={"none": None} | dict(reversed(days(100).items())), time=time)
    assert read(itwins) == ["none", *(str(number) for number in range(100))]


def test_a_filter_that_is_ignored_is_noticed() -> None:
    """A time outside the requested range raises PagingError, because the ranges would overlap."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        read(TimedITwins(times=days(50), ignores_filter=True))


@pytest.mark.parametrize(
    ("times", "named"), [([DAY] * 20, "ge 2026-01-01T00:00:00.000000Z.*"), ([None] * 20, ".*eq null.*")]
)
@pytest.mark.parametrize("order", ["sorts", "sorts nulls last", "rejects"])
def test_a_range_that_cannot_be_split_is_named(times: list[datetime | None], named: str, order: str) -> None:
    """When as many iTwins as the cap share one time or have none, the error names the filter and what to do."""
    known: dict[str, datetime | None] = {"a": day(1), "b": day(2)}
    itwins = TimedITwins(times=known | {str(number): time for number, time in enumerate(times)}, order=order)
    with pytest.raises(
        PagingError, match=f"20 iTwins or more match '.*{named}': more iTwins share one.*sub_class.*partition_by"
    ):
        read(itwins)


@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
def test_a_rejected_filter_is_explained() -> None:
    """When the service cannot filter by the time, the error says so and quotes the service."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "createdDateTime" in condition)
    with pytest.raises(
        PagingError, match=r"does not list iTwins by their createdDateTime: .*422.*\[\$filter\]"
    ) as caught:
        read(itwins)
    assert isinstance(caught.value.__cause__, UnprocessableError)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_rejected_null_is_a_warning(concurrency: int) -> None:
    """When the service rejects only the filter for iTwins without a time, the others are read, with one warning."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "null" in condition)
    with pytest.warns(TruncatedWarning, match=r"or createdDateTime eq null\)'.*are not among those read") as caught:
        assert len(read(itwins, concurrency=concurrency)) == 50
    assert len(caught) == 1


def test_an_itwin_whose_time_changes_is_not_lost() -> None:
    """An iTwin whose time changes during the listing appears in a later range, a second time if it came before."""
    itwins = TimedITwins(times=days(100))

    def touch(number: int) -> None:
        if number > 9:
            itwins.times = {**itwins.times, "7": day(100 + number)}

    itwins.before = touch
    ids = read(itwins)
    assert set(ids) == set(days(100))
    assert ids.count("7") == 2


def test_a_range_that_grows_past_the_cap_is_split() -> None:
    """iTwins that are created while a range is read are returned too, and none comes twice."""
    itwins = TimedITwins(times=days(14))

    def grow(number: int) -> None:
        if number == 2:
            itwins.times = days(60) | {"none": None}

    itwins.before = grow
    assert sorted(read(itwins)) == sorted(itwins.times)


def test_items_without_an_id_are_never_dropped() -> None:
    """iTwins without an id are all returned."""
    assert read(TimedITwins(times=days(30) | {"": day(1)})).count("UNSET") == 1


@given(TIMES, st.integers(3, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 3]), st.integers(1, 40))
def test_a_listing_that_stops_anywhere_continues(  # what there is, how it is read, and how often it stops
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int, stop: int
) -> None:
    """A reader that stops after every few items and resumes with a new pager reads every iTwin once."""
    assume(within_the_cap(times, cap))
    itwins = TimedITwins(
        times={str(number): time for number, time in enumerate(times)}, cap=cap, page_size=page_size, order=order
    )

    async def read_on() -> Iterator[str]:
        ids: list[str] = []
        resume, more = None, True
        while more:
            pager, before = itwins.pager(concurrency=concurrency, resume=resume), len(ids)
            async for itwin in pager:
                ids.append(str(itwin.id))
                if len(ids) - before == stop:
                    break
            assert pager.items_read == len(ids) - before
            resume, more = pager.resume, len(ids) > before
        return iter(ids)

    if not order.startswith("sorts"):
        assume(len(times) < cap)  # such a range is read again, and a resume does not know which items it returned
    assert sorted(in_virtual_time(read_on()), key=int) == [str(number) for number in range(len(times))]


def test_each_page_continues_the_listing() -> None:
    """`page.resume` gives the pages after it, also at the end of a range, and is None on the last page."""
    itwins = TimedITwins(times=days(57) | {"none": None})

    async def pages() -> None:
        read = [page async for page in itwins.pager(concurrency=3).pages()]
        ids = [[str(itwin.id) for itwin in page.items] for page in read]
        for number, page in enumerate(read[:-1], 1):
            rest = await itwins.pager(resume=page.resume).collect()
            assert [str(itwin.id) for itwin in rest] == [identity for page in ids[number:] for identity in page]
        assert read[-1].resume is None

    in_virtual_time(pages())


@pytest.mark.parametrize("limit", [0, 1, 15, 16, 30, 57, 58, 99])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_limit_holds_for_all_ranges(limit: int, concurrency: int) -> None:
    """`limit` counts the items of all ranges, and resuming without a limit reads the rest."""
    itwins = TimedITwins(times=days(57) | {"none": None})

    async def pages() -> list[str]:
        first = itwins.pager(limit=limit, concurrency=concurrency)
        ids = [str(itwin.id) for itwin in await first.collect()]
        assert len(ids) == min(limit, 58)
        return ids + [str(itwin.id) for itwin in await itwins.pager(resume=first.resume).collect()]

    assert in_virtual_time(pages()) == ["none", *(str(number) for number in range(57))]


@pytest.mark.parametrize("number", range(1, 11))
def test_a_listing_resumes_from_an_error(number: int) -> None:
    """Whichever request fails, the collected items and those of the resumed listing are all iTwins once."""
    itwins = TimedITwins(times=days(50), errors={number: httpx.ConnectError("broken")})

    async def resumed() -> list[str]:
        with pytest.raises(NotSentError) as caught:
            await itwins.pager(concurrency=3).collect()
        rest = await itwins.pager(concurrency=3, resume=caught.value.resume).collect()
        return [str(itwin.id) for itwin in [*caught.value.collected, *rest]]  # type: ignore[attr-defined]  # iTwins

    assert in_virtual_time(resumed()) == [str(number) for number in range(50)]
