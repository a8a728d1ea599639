"""Concurrent page requests: their number, their times, and the same result as sequential ones."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import event, given, strategies as st
from itwin_platform import BackoffPolicy, Gate, ITwin, Pager, PlatformClient, PlatformError, UsageError

from tests.wrapper.listings.conftest import BASE_URL, NumberedItems, TimedITwins, linked
from tests.wrapper.listings.test_list_all import days


@pytest.mark.parametrize(
    ("total", "concurrency", "seconds", "most"),
    [(1000, 1, 100, 100), (1000, 4, 26, 104), (1000, 16, 8, 116), (30, 2, 2, 5), (100, 50, 2, 60), (5, 10, 1, 1)],
)
async def test_pages_of_one_second_each(total: int, concurrency: int, seconds: int, most: int) -> None:
    """The first page is requested alone, the others `concurrency` at a time."""
    items = NumberedItems(total, latencies=(1.0,))
    assert await items.pager(concurrency=concurrency).collect() == items.everything
    assert asyncio.get_running_loop().time() == pytest.approx(seconds)
    assert items.most_in_flight == min(concurrency, len(items.requests))
    assert len(items.requests) <= most


async def test_pages_ahead_wait_for_a_slow_caller() -> None:
    """A slow caller gets no more than `concurrency` pages ahead."""
    items = NumberedItems(1000, latencies=(1.0,))
    async with aclosing(items.pager(concurrency=3).pages()) as pages:
        for number in range(1, 6):
            await anext(pages)
            await asyncio.sleep(100)
            assert items.requested == [10 * page for page in range(number + 3)]


async def by_closing(pager: Pager[ITwin]) -> None:
    """Close the generator."""
    async with aclosing(pager.pages()) as pages:
        await anext(pages)
        await anext(pages)
        await asyncio.sleep(0.5)


async def by_cancelling(pager: Pager[ITwin]) -> None:
    """Cancel the task that reads."""
    reading = asyncio.create_task(pager.collect())
    await asyncio.sleep(2.5)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


@pytest.mark.parametrize("read", [aiter, lambda pager: pager.pages()], ids=["items", "pages"])
@pytest.mark.parametrize("is_waiting", [False, True])
@pytest.mark.parametrize("service", [NumberedItems(100), TimedITwins(days(60))], ids=["list", "list_all"])
def test_a_program_can_end_while_a_listing_is_half_read(
    service: NumberedItems | TimedITwins, read: Callable[[Any], Any], *, is_waiting: bool
) -> None:
    """A half-read listing reports nothing when the event loop ends."""
    reported, kept = list[object](), list[object]()

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
        reader = read(service.pager(concurrency=4))
        for _ in range(3):
            await anext(reader)
        kept.extend((reader, asyncio.ensure_future(anext(reader)) if is_waiting else None))

    asyncio.run(main())
    assert reported == []
    assert service.in_flight == 0


@pytest.mark.parametrize("leave", [by_closing, by_cancelling])
async def test_leaving_cancels_requests_in_flight(leave: Callable[[Pager[ITwin]], Coroutine[None, None, None]]) -> None:
    """Leaving a listing early cancels its requests immediately, and it can be resumed later."""
    items = NumberedItems(1000, latencies=(1.0,))
    pager = items.pager(concurrency=4)
    await leave(pager)
    before = asyncio.get_running_loop().time()
    for _ in range(10):
        await asyncio.sleep(0)
    assert asyncio.get_running_loop().time() == before
    assert len(items.requests) > pager.pages_read, "some were in flight"
    assert (items.in_flight, len(asyncio.all_tasks())) == (0, 1)
    assert items.everything[pager.items_read :] == await items.pager(resume=pager.resume).collect()


@pytest.mark.parametrize(
    ("first", "limit", "cap", "ahead"),
    [
        ("?$top=10&$skip=10", None, None, [10, 20, 30, 40, 50]),
        *(("?$skip=10", limit, None, ahead) for limit, ahead in ((35, [10, 20, 30]), (11, [10]))),
        ("?$skip=10", None, 25, [10, 20]),
        *((first, None, None, [10]) for first in ("?$skip=10&$top=7", "?$skip=10&cursor=x")),
    ],
)
async def test_the_pages_that_are_requested_ahead(
    first: str, limit: int | None, cap: int | None, ahead: list[int]
) -> None:
    """Pages are requested ahead up to the limit and the cap, if the links have the requested offsets.

    The fifth is requested when the response to the second has arrived, before it is decoded and ends the listing.
    """
    service = linked(first, None, count=10, cap=cap)
    await service.platform.itwins.list(page_size=10, concurrency=4, limit=limit).collect()
    assert [int(request.url.params.get("$skip", "0")) for request in service.requests[1:]] == ahead


async def test_a_link_that_cannot_be_sent_loses_no_page() -> None:
    """A path with its query has up to 65,000 bytes. The items before a longer link are handed out first."""
    longest = "?cursor=".ljust(65_000 - len("/prefix/itwins/$top=10&"), "x")
    pager = linked(longest, f"{longest}x", None, count=10).platform.itwins.list(page_size=10, concurrency=4)
    with pytest.raises(UsageError, match="too long"):
        await pager.collect()
    assert pager.items_read == 20


async def test_pages_ahead_pass_the_gate() -> None:
    """A gate for two requests limits a listing of any concurrency to two."""
    items = NumberedItems(200, latencies=(1.0,))
    gate = Gate(max_in_flight=2)
    async with PlatformClient(BASE_URL, vendor="v", token="t", transport=items, gate=gate) as platform:
        assert len(await platform.itwins.list(page_size=10, concurrency=9).collect()) == 200
    assert items.most_in_flight == 2


PATIENT = BackoffPolicy(max_attempts=20, max_wait=600.0, deadline=None, max_in_flight=64)
#: Links of services: with the requested offsets, or with offsets that are not known ahead.
LINKS = [
    "http://backend:8080/itwins/?$skip={0}&$top={1}",
    *("?$skip={0}&$top={1}", " /prefix/itwins/?$top={1}&$skip={0}", "?$skip={0}", "?cursor={0}&$top={1}"),
    *("?cursor={0}&$skip={0}&$top={1}", "?$skip={0}&$top={2}"),
    "/elsewhere/?$skip={0}&$top={1}",
]
PLACES = st.integers(0, 40)
FAULTS = st.sampled_from([429, 503, 502, httpx.ReadError("reset"), httpx.ConnectError("refused")])
SERVICES = st.builds(
    NumberedItems,
    st.integers(0, 40),
    page_size=st.integers(1, 9),
    shares=st.just((100,)) | st.lists(st.sampled_from([100, 67, 50, 150]), min_size=1, max_size=5),
    links=st.sampled_from(LINKS[:6]).map(lambda link: [link])
    | st.lists(st.sampled_from(LINKS), min_size=1, max_size=5),
    latencies=st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0, 30.0]), min_size=1, max_size=7),
    faults=st.dictionaries(PLACES, st.lists(FAULTS, max_size=3), max_size=6),
    errors=st.dictionaries(PLACES, st.just(500), max_size=1),
    cap=st.just(10_000) | st.integers(1, 45),
    policy=st.just(PATIENT),
)


async def outcome(
    service: NumberedItems, *, concurrency: int, limit: int | None, work: Sequence[float], stop: int | None
) -> dict[str, object]:
    """Read, then resume without faults; return the items and the end that the caller saw."""
    pager, items, ended = service.pager(limit=limit, concurrency=concurrency), list[ITwin](), "complete"
    resume = pager.resume
    try:
        async for itwin in pager:
            items.append(itwin)
            resume = pager.resume
            await asyncio.sleep(work[len(items) % len(work)])
            if len(items) == stop:
                ended = "stopped"
                break
    except PlatformError as error:
        ended, resume = type(error).__name__, error.resume or ""
    for _ in range(10):
        await asyncio.sleep(0)
    assert service.in_flight == 0
    assert service.most_in_flight <= concurrency
    calm = replace(service, links=LINKS[:1], faults={}, errors={})
    rest = [item async for item in calm.pager(concurrency=concurrency, resume=resume)]
    assert len(asyncio.all_tasks()) == 1
    assert items + rest == service.everything
    assert ended != "complete" or items == service.everything[:limit]
    return {"items": items, "ended": ended, "truncated": pager.truncated, "max_return": pager.max_return}


SECONDS = st.lists(st.sampled_from([0.0, 0.0, 0.5, 5.0]), min_size=1, max_size=3)
READINGS = st.fixed_dictionaries(
    {"limit": st.none() | st.integers(0, 45), "work": SECONDS, "stop": st.none() | st.integers(1, 45)}
)


@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
@given(SERVICES, READINGS, st.integers(2, 17))
async def test_concurrent_listings_equal_sequential_ones(
    service: NumberedItems, reading: dict[str, Any], concurrency: int
) -> None:
    """A concurrent listing returns the items of a sequential one, and a resume returns the rest once."""
    sequential = await outcome(replace(service), concurrency=1, **reading)
    event(str(sequential["ended"]))
    assert await outcome(replace(service), concurrency=concurrency, **reading) == sequential
