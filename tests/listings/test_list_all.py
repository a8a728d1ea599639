"""A listing above the cap, in ranges of time: disjoint, complete, resumable, or an error that says why not."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given, strategies as st
from itwin_platform import ITwin, PagingError, TruncatedWarning, UnprocessableError
from itwin_platform._errors import NotSentError
from itwin_platform._listings.page import PageContent
from itwin_platform._listings.time_ranges import TimeRange, condition, split

from tests.support.timed_itwins import TimedITwins
from tests.support.virtual_time import in_virtual_time

DAY = datetime(2026, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def day(number: float) -> datetime:
    """A day of January, by its number from 0 on."""
    return DAY + timedelta(days=number)


def days(count: int) -> dict[str, datetime | None]:
    """So many iTwins, one a day."""
    return {str(number): day(number) for number in range(count)}


def read(itwins: TimedITwins, within: str | None = None, *, concurrency: int = 1) -> list[str]:
    """Read all of it, and return the ids."""

    async def collect() -> list[str]:
        return [str(itwin.id) async for itwin in itwins.pager(within, concurrency=concurrency)]

    return in_virtual_time(collect())


@pytest.mark.parametrize(
    ("part", "within", "expected"),
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
def test_ranges_as_filters(part: TimeRange, within: str | None, expected: str | None) -> None:
    """Bounds are half open, times in UTC, and the filter of the caller holds in every range."""
    assert condition(part, "t", within=within) == expected


@pytest.mark.parametrize(
    ("part", "moment", "halves"),
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
def test_splits(part: TimeRange, moment: datetime | None, halves: tuple[TimeRange, TimeRange] | None) -> None:
    """A range is split at the time that was seen, at the next microsecond where it begins there, or not at all."""
    assert split(part, moment) == halves


@pytest.mark.parametrize(("part", "time"), [(TimeRange(since=day(5)), day(4)), (TimeRange(until=day(5)), day(5))])
def test_a_filter_that_is_ignored_is_noticed(part: TimeRange, time: datetime) -> None:
    """A time outside the range is an error: ranges would overlap for ever."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        split(part, time)


MOMENTS = st.integers(0, 40).map(lambda number: DAY + timedelta(microseconds=number // 3 * 10 ** (number % 7)))
TIMES = st.lists(MOMENTS | st.none() | st.just("lately"), max_size=120)
ORDERS = st.sampled_from(["sorts", "ignores", "rejects"])


def within_the_cap(times: list[datetime | str | None], cap: int) -> bool:
    """Whether no more iTwins have the same time, or none, than one listing returns."""
    known = [time if isinstance(time, datetime) else None for time in times]
    return all(known.count(time) < cap for time in known)


@given(TIMES, st.integers(2, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 2, 5]))
def test_every_itwin_once(
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int
) -> None:
    """Whatever the times and the order, all iTwins come once, unless more than the cap have the same time or none."""
    assume(within_the_cap(times, cap))
    known = {str(number): time for number, time in enumerate(times)}
    itwins = TimedITwins(times=known, cap=cap, page_size=page_size, order=order)
    assert sorted(read(itwins, concurrency=concurrency), key=int) == [str(number) for number in range(len(times))]
    assert itwins.most_in_flight <= concurrency


@given(TIMES, st.integers(3, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 3]), st.integers(1, 40))
def test_a_listing_that_stops_anywhere_continues(  # what there is, how it is read, and how often it stops
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int, stop: int
) -> None:
    """A reader that stops after every few items, each time in another process, reads every iTwin once."""
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

    if order == "ignores":
        assume(len(times) < cap)  # such a range is looked at again, and a resume does not know what it gave
    assert sorted(in_virtual_time(read_on()), key=int) == [str(number) for number in range(len(times))]


def test_each_page_continues_the_listing() -> None:
    """The resume of each page gives the pages after it, also where a range ends; that of the last page is None."""
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
    """The limit counts the items of all ranges, and a raised one gives the rest."""
    itwins = TimedITwins(times=days(57) | {"none": None})

    async def pages() -> list[str]:
        first = itwins.pager(limit=limit, concurrency=concurrency)
        ids = [str(itwin.id) for itwin in await first.collect()]
        assert len(ids) == min(limit, 58)
        return ids + [str(itwin.id) for itwin in await itwins.pager(resume=first.resume).collect()]

    assert in_virtual_time(pages()) == [*(str(number) for number in range(57)), "none"]


def test_below_the_cap_nothing_is_split() -> None:
    """What fits into one listing is read as one, after one look; the cap is learned from the first response."""
    itwins = TimedITwins(times=days(14))
    assert len(read(itwins, "a eq 1")) == 14
    assert itwins.conditions == ["a eq 1"] * 5
    assert itwins.looks == 2


def test_one_look_for_each_range() -> None:
    """A range costs one request for one item beside its pages: nothing is read and thrown away."""
    itwins = TimedITwins(times=days(150))
    assert len(read(itwins)) == 150
    ranges = 10
    timeless, learned = 1, 1
    assert itwins.looks == ranges + learned
    assert len(itwins.queries) == 150 // 5 + itwins.looks + timeless
    assert {(query["$select"], query["$top"]) for query in itwins.queries if "$select" in query} == {
        ("createdDateTime", "1")
    }


def test_ranges_are_read_side_by_side() -> None:
    """As many requests as wanted are in flight also where one range ends and the next begins."""
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
    """Ids are kept to drop what comes twice, and only those of the range that is being read."""
    itwins = TimedITwins(times=days(200))

    async def most_kept() -> int:
        pager = itwins.pager()
        return max([len(pager._run._seen) async for _ in pager])  # type: ignore[attr-defined]  # the run of list_all

    assert in_virtual_time(most_kept()) <= itwins.cap


@pytest.mark.parametrize(
    ("times", "named", "shared"),
    [
        (
            [DAY] * 20,
            "ge 2026-01-01T00:00:00.000000Z and createdDateTime lt 2026-01-01T00:00:00.000001Z",
            "more iTwins share one timestamp than the cap",
        ),
        ([None] * 20, "eq null", "more iTwins have no such time than the cap"),
    ],
)
@pytest.mark.parametrize("order", ["sorts", "rejects"])
def test_what_cannot_be_split_is_named(times: list[datetime | None], named: str, shared: str, order: str) -> None:
    """As many iTwins as the cap with one time, or without one, are an error that names them and what to do."""
    known: dict[str, datetime | None] = {"a": day(1), "b": day(2)}
    itwins = TimedITwins(times=known | {str(number): time for number, time in enumerate(times)}, order=order)
    with pytest.raises(PagingError, match=f"20 iTwins or more match '.*{named}': {shared}.*sub_class.*partition_by"):
        read(itwins)


def test_a_rejected_filter_is_explained() -> None:
    """Where the service does not filter by the time, the error says so, and repeats what the service said."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "createdDateTime" in condition)
    with pytest.raises(
        PagingError, match=r"does not list iTwins by their createdDateTime: 422.*\[\$filter\]"
    ) as caught:
        read(itwins)
    assert isinstance(caught.value.__cause__, UnprocessableError)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_rejected_null_is_a_warning(concurrency: int) -> None:
    """Where the service only rejects the search for iTwins without the time, the others are read, with one warning."""
    itwins = TimedITwins(times=days(50), rejects=lambda condition: "null" in condition)
    with pytest.warns(TruncatedWarning, match=r"'createdDateTime eq null'.*are not among those read") as caught:
        assert len(read(itwins, concurrency=concurrency)) == 50
    assert len(caught) == 1


def test_a_filter_that_the_service_ignores() -> None:
    """A service that gives everything to every filter is an error, and not an endless listing."""
    with pytest.raises(PagingError, match="iTwins of other times"):
        read(TimedITwins(times=days(50), ignores_filter=True))


def test_an_itwin_that_moves_on_is_not_lost() -> None:
    """What is modified while it is read shows up in a later range, where it comes again if it came before."""
    itwins = TimedITwins(times=days(100))

    def touch(number: int) -> None:
        if number > 9:
            itwins.times = {**itwins.times, "7": day(100 + number)}

    itwins.before = touch
    ids = read(itwins)
    assert set(ids) == set(days(100))
    assert ids.count("7") == 2


def test_a_range_that_grows_past_the_cap_is_split_after_all() -> None:
    """iTwins that are created while a range is read are read too, and none comes twice."""
    itwins = TimedITwins(times=days(14))

    def grow(number: int) -> None:
        if number == 3:
            itwins.times = days(60) | {"none": None}

    itwins.before = grow
    assert sorted(read(itwins)) == sorted(itwins.times)


def test_a_range_that_is_never_complete_is_an_error() -> None:
    """A service that shows less to a look than to a listing does not keep the client busy for ever."""
    itwins = TimedITwins(times={})

    def flicker(_: int) -> None:
        itwins.times = {} if "$select" in itwins.queries[-1] else days(50)

    itwins.before = flicker
    with pytest.raises(PagingError, match="others at each look: try again later"):
        read(itwins)


def test_what_has_no_id_is_never_dropped() -> None:
    """Where `select` omits the id, or the service sends no object at all, everything is given."""
    itwins = TimedITwins(times=days(30) | {"": day(1)})
    assert read(itwins).count("UNSET") == 1

    async def collect() -> list[object]:
        return [*await TimedITwins(times={}, cap=5, others=[None, 5, 5]).pager().collect()]

    assert in_virtual_time(collect()) == [None, 5, 5]


@pytest.mark.parametrize("number", range(1, 16))
def test_an_error_says_where_to_continue(number: int) -> None:
    """Whichever request fails, the items until then and those of a resumed run are everything, once."""
    itwins = TimedITwins(times=days(50), errors={number: NotSentError("broken")})

    async def resumed() -> list[str]:
        with pytest.raises(NotSentError) as caught:
            await itwins.pager(concurrency=3).collect()
        rest = await itwins.pager(concurrency=3, resume=caught.value.resume).collect()
        return [str(itwin.id) for itwin in [*caught.value.collected, *rest]]  # type: ignore[attr-defined]  # iTwins

    assert in_virtual_time(resumed()) == [str(number) for number in range(50)]


def test_links_that_lead_away_are_not_followed() -> None:
    """A link of a range is held to the same rules as any other."""
    itwins = TimedITwins(times=days(50))
    read_page = itwins.read
    itwins.read = lambda response: _led_away(read_page(response))  # type: ignore[method-assign]  # another service
    with pytest.raises(PagingError, match="another origin"):
        read(itwins)


def _led_away(content: PageContent[ITwin]) -> PageContent[ITwin]:
    return replace(content, next_href=content.next_href and f"//elsewhere.example/itwins/{content.next_href}")
