"""`list_all`: a listing above the cap is read completely in ranges of time, with its errors and its resume."""

from contextlib import aclosing
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from itwin_platform import NotSentError, PagingError, TruncatedWarning, UnprocessableError, UsageError

from tests.support.examples import examples
from tests.support.schema_values import SCHEMAS
from tests.wrapper.listings.conftest import LinkedPages, TimedITwins, linked

DAY = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=-5))])
MOMENTS = st.builds(
    lambda number, zone: (DAY + timedelta(microseconds=number // 3 * 10 ** (number % 7))).astimezone(zone),
    st.integers(0, 40),
    ZONES,
)
#: Times that often coincide, and orders that a service may have.
TIMES = st.lists(MOMENTS | st.none() | st.just("lately"), max_size=120)
ORDERS = st.sampled_from(["sorts", "sorts nulls last", "ignores", "rejects"])


def day(number: float) -> datetime:
    """A day of January 2026, counted from 0."""
    return DAY + timedelta(days=number)


def days(count: int) -> dict[str, datetime | None]:
    """One iTwin for each of the first `count` days."""
    return {str(number): day(number) for number in range(count)}


def numbered(count: int) -> list[str]:
    """The ids from 0 on."""
    return [str(number) for number in range(count)]


def timed(times: list[datetime | str | None], **others: Any) -> TimedITwins:
    """Return iTwins with these times; fewer than the cap have the same time or none."""
    known = [time if isinstance(time, datetime) else None for time in times]
    assume(all(known.count(time) < others["cap"] for time in known))
    return TimedITwins(dict(zip(numbered(len(times)), times, strict=True)), **others)


STOPS = st.none() | st.integers(1, 40)


@settings(max_examples=examples(200))
@given(TIMES, st.integers(2, 30), st.integers(1, 12), ORDERS, st.sampled_from([1, 2, 5]), STOPS)
@example([None, DAY, None, None], 4, 1, "ignores", 1, None).via("all of the second range is known, and reaches the cap")
@example([DAY, DAY, day(1e-11), day(1e-11)], 3, 1, "ignores", 1, None).via("the closest times are split")
@example([DAY, *[day(1)] * 3, day(2)], 4, 1, "sorts", 1, 2).via("a run resumes at equal times")
@example([DAY], 3, 1, "rejects", 1, 1).via("a run without an order resumes")
async def test_every_itwin_once(
    times: list[datetime | str | None], cap: int, page_size: int, order: str, concurrency: int, stop: int | None
) -> None:
    """Every iTwin is returned once with any times and order, if fewer than the cap share a time.

    The same holds for a reader that stops after some items and resumes with a new pager.
    """
    itwins = timed(times, cap=cap, page_size=page_size, order=order)
    # An unsorted range is read again, and a resume does not know its returned items.
    assume(stop is None or (cap > 2 and (order.startswith("sorts") or len(times) < cap)))
    ids: list[str] = []
    resume, more = None, True
    while more:
        pager, before = itwins.pager(concurrency=concurrency, resume=resume), len(ids)
        async with aclosing(aiter(pager)) as items:
            async for itwin in items:
                ids.append(str(itwin.id))
                if len(ids) - before == stop:
                    break
        assert pager.items_read == len(ids) - before
        resume, more = pager.resume, len(ids) > before and stop is not None
    assert sorted(ids, key=int) == numbered(len(times))
    assert itwins.most_in_flight <= concurrency


async def test_below_the_cap_nothing_is_split() -> None:
    """A listing below the cap takes the requests of its pages, one of one page a single request."""
    itwins = TimedITwins(days(14))
    assert len(await itwins.read("a eq 1", representation="full")) == 14
    assert [request.url.params["$filter"] for request in itwins.requests] == ["a eq 1"] * 3
    assert ("$select" in itwins.queries[0], itwins.requests[0].headers["prefer"]) == (False, "return=representation")
    assert len(await (small := TimedITwins(days(5))).read(concurrency=10)) == 5
    summary = ",".join(SCHEMAS["ITwinSummary"]["properties"])
    query = {"$select": f"{summary},createdDateTime", "$orderby": "createdDateTime ASC", "$top": "5"}
    assert [dict(request.url.params) for request in small.requests] == [query]


async def test_the_callers_keywords_go_with_every_range() -> None:
    """`list_all` sends the caller's filters and headers in every range, and adds its own properties to `select`."""
    itwins = TimedITwins(days(40))
    keywords: dict[str, Any] = {"sub_class": iter(["Asset", "Road"]), "select": iter(["status"])}
    await itwins.read("a eq 1", include_inactive=True, query_scope="OrganizationAdmin", **keywords)
    assert len(itwins.requests) > 8
    for request in itwins.requests:
        sent = dict(request.url.params)
        assert f"{sent.pop('$filter')}|".startswith(("a eq 1|", "(a eq 1) and c", "(a eq 1) and (c"))
        assert sent.pop("$select") == "status,id,createdDateTime"
        assert (sent["subClass"], sent["includeInactive"]) == ("Asset,Road", "true")
        assert request.headers["x-itwin-query-scope"] == "OrganizationAdmin"


@pytest.mark.parametrize(("total", "at_once", "most"), [(600, 1, 1.6), (1_150, 7, 1.35)])
async def test_few_requests_beyond_the_pages(total: int, at_once: int, most: float) -> None:
    """A listing beyond the cap takes few requests more than it has pages, also when iTwins share their times."""
    times = {str(number): DAY + timedelta(seconds=number // at_once) for number in range(total)}
    itwins = TimedITwins(times, cap=500, page_size=50)
    assert len(await itwins.read(concurrency=4)) == total
    assert len(itwins.requests) <= most * total / 50


@pytest.mark.parametrize("time", ["createdDateTime", "lastModifiedDateTime"])
async def test_ranges_come_in_the_order_of_time(time: str) -> None:
    """Ranges are in the order of time, and iTwins without a time or an id are not lost."""
    times = {"none": None} | dict(reversed(days(100).items())) | {"": day(99.5)}
    assert await TimedITwins(times, time=time).read() == ["none", *numbered(100), "UNSET"]


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_each_range_has_its_own_cursors(concurrency: int) -> None:
    """The same cursor may occur in several ranges."""
    assert await TimedITwins(days(50), link="?cursor={0}").read(concurrency=concurrency) == numbered(50)


async def test_a_filter_that_is_ignored_is_noticed() -> None:
    """A time outside the requested range raises PagingError, because the ranges would overlap."""
    with pytest.raises(PagingError, match="does not filter by createdDateTime"):
        await TimedITwins(days(50), ignores_filter=True).read()


@pytest.mark.parametrize(("time", "named"), [(DAY, "ge 2026-01-01T00:00:00.000000Z.*"), (None, ".*eq null.*")])
@pytest.mark.parametrize("order", ["sorts", "sorts nulls last", "rejects"])
async def test_a_range_that_cannot_be_split_is_named(time: datetime | None, named: str, order: str) -> None:
    """When as many iTwins as the cap share one time or have none, the error names the filter and the way out."""
    itwins = TimedITwins({"a": day(1), "b": day(2)} | dict.fromkeys(numbered(20), time), order=order)
    said = f"20 iTwins or more match '.*{named}': more iTwins share one.*sub_class.*partition_by"
    with pytest.raises(PagingError, match=said):
        await itwins.read()
    assert len(itwins.requests) <= 16


async def test_a_cap_that_is_not_echoed_is_the_requested_one() -> None:
    """A service that does not echo X-Max-Return reaches the cap that was requested."""
    with pytest.raises(PagingError, match="9999 iTwins or more match"):
        await linked(None, count=9999).platform.itwins.list_all().collect()


@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
async def test_a_rejected_filter_is_explained() -> None:
    """When the service cannot filter by the time, the error says so and quotes the service."""
    itwins = TimedITwins(days(50), rejects=lambda condition: "createdDateTime" in condition)
    with pytest.raises(PagingError, match=r"list iTwins by their createdDateTime: .*422.*\[\$filter\]") as caught:
        await itwins.read()
    assert isinstance(caught.value.__cause__, UnprocessableError)


@pytest.mark.parametrize(("concurrency", "order"), [(1, "sorts"), (4, "ignores")])
async def test_a_rejected_null_is_a_warning(concurrency: int, order: str) -> None:
    """When the service rejects only the filter for iTwins without a time, the others are read, with one warning."""
    itwins = TimedITwins(days(50), rejects=lambda condition: "null" in condition, order=order)
    with pytest.warns(TruncatedWarning, match=r"or createdDateTime eq null\)'.*were omitted") as caught:
        assert len(await itwins.read(concurrency=concurrency)) == 50
    assert (len(caught), sum("null" in query for query in itwins.queries)) == (1, 1)
    assert caught[0].filename.endswith("conftest.py"), "the line of the loop"
    resumed = TimedITwins(days(5), cap=3, page_size=1, rejects=itwins.rejects)
    await (pager := resumed.pager(limit=3)).collect()
    with pytest.warns(TruncatedWarning):
        assert await resumed.read(resume=pager.resume) == ["3", "4"]


async def test_an_itwin_that_changes_while_it_is_read_is_not_lost() -> None:
    """An iTwin whose time changes appears in a later range too, and a new one appears once."""
    ids = await TimedITwins(days(30), later={6: days(30) | {"7": day(100)}}).read()
    assert ids == [*numbered(30), "7"], "also in the next range"
    more = days(60) | {"none": None}
    assert sorted(await TimedITwins(days(14), later={2: more}).read()) == sorted(more)


async def test_each_page_continues_the_listing() -> None:
    """`page.resume` gives the pages after it, also at the end of a range, and is None on the last page."""
    itwins = TimedITwins(days(57) | {"none": None})
    read = [page async for page in itwins.pager(concurrency=3).pages()]
    ids = [[itwin.id for itwin in page.items] for page in read]
    for number, page in enumerate(read[:-1], 1):
        rest = await itwins.pager(resume=page.resume).collect()
        assert [itwin.id for itwin in rest] == [identity for page in ids[number:] for identity in page]
    assert read[-1].resume is None


@pytest.mark.parametrize("limit", [0, 15, 20, 58])
async def test_a_limit_holds_for_all_ranges(limit: int) -> None:
    """`limit` counts the items of all ranges, and resuming without a limit reads the rest."""
    itwins = TimedITwins(days(57) | {"none": None})
    first = itwins.pager(limit=limit, concurrency=4)
    ids = [itwin.id for itwin in await first.collect()]
    assert (len(ids), first.truncated) == (limit, False)
    assert ids + await itwins.read(resume=first.resume) == ["none", *numbered(57)]


BROKEN, UNPROCESSABLE = httpx.ConnectError("broken"), httpx.Response(422)


@pytest.mark.parametrize(("number", "error"), [(1, BROKEN), (4, BROKEN), (5, BROKEN), (10, BROKEN), (7, UNPROCESSABLE)])
async def test_a_listing_resumes_from_an_error(number: int, error: httpx.Response | Exception) -> None:
    """The collected items and those of the resumed listing are all iTwins once, whichever request fails.

    Only the first request of a range tells whether the service rejects its filter: a later 422 is the caller's to see.
    """
    itwins = TimedITwins(days(50), errors={number: error})
    pager = itwins.pager(concurrency=3)
    with pytest.raises(NotSentError if error is BROKEN else UnprocessableError) as caught:
        await pager.collect()
    rest = await itwins.read(concurrency=3, resume=caught.value.resume)
    assert [*(str(itwin.id) for itwin in pager.collected), *rest] == numbered(50)


@pytest.mark.parametrize(
    ("keyword", "value", "says"),
    [
        *(("partition_by", time, "must be one of the times") for time in ("displayName", ["createdDateTime"])),
        *(("page_size", 1001, "must be an int"), ("filter", "", "must be a str"), ("on_page", 5, "must be a func")),
        *(("sub_class", 5, "must be one str"), ("select", 5, "must be one str"), ("select", [], "has no value")),
        ("query_scope", " a", "must be a string of visible ASCII"),
    ],
)
async def test_list_all_rejects_at_once(keyword: str, value: Any, says: str) -> None:
    """`list_all` rejects the arguments that `list` rejects, when it is called."""
    with pytest.raises(UsageError, match=f"{keyword} {says}") as caught:
        LinkedPages([]).platform.itwins.list_all(**{keyword: value})
    assert caught.value.argument == keyword
