"""Several page requests at once: how many, how early, for how long, and what is left of them at the end."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import httpx
import pytest
from itwin_platform import ITwin, Pager

from tests.support.numbered_items import NumberedItems
from tests.support.prepared_pages import linked
from tests.support.virtual_time import in_virtual_time


async def settled(seconds: float = 100.0) -> None:
    """Let all tasks run until they wait."""
    await asyncio.sleep(seconds)


def elapsed(items: NumberedItems, *, concurrency: int) -> float:
    """Read everything and return the seconds it took."""

    async def read() -> float:
        assert await items.pager(concurrency=concurrency).collect() == items.everything
        return asyncio.get_running_loop().time()

    return in_virtual_time(read())


@pytest.mark.parametrize(("concurrency", "seconds"), [(1, 100), (2, 51), (4, 26), (8, 14), (16, 8), (99, 2), (500, 2)])
def test_a_hundred_pages_of_one_second(concurrency: int, seconds: int) -> None:
    """The first page takes its time alone, the others come in rounds of `concurrency`."""
    items = NumberedItems(total=1000, latency=1.0)
    assert elapsed(items, concurrency=concurrency) == pytest.approx(seconds)
    assert items.most_in_flight == concurrency


def test_pages_ahead_wait_for_a_slow_caller() -> None:
    """However long the caller works on a page, no more than `concurrency` pages are held for it, none decoded."""

    async def read() -> None:
        items = NumberedItems(total=1000, latency=1.0)
        async with aclosing(items.pager(concurrency=3).pages()) as pages:
            for number in range(1, 6):
                await anext(pages)
                await settled()
                assert items.requested == [10 * page for page in range(number + 3)]
                assert items.decoded == [10 * page for page in range(number)]

    in_virtual_time(read())


def test_the_next_request_goes_out_before_a_response_is_decoded() -> None:
    """Decoding takes time in which the service can work: the slot of a response is filled before."""
    items = NumberedItems(total=200, latency=1.0)
    elapsed(items, concurrency=4)
    assert items.decoded == [10 * page for page in range(20)]
    assert [items.decoded_when_requested[page] for page in range(5, 20)] == [page - 4 for page in range(5, 20)]


def test_requests_are_in_flight_while_the_caller_works() -> None:
    """The next pages are asked for before a page is handed out, so that work and waiting overlap."""

    async def read() -> float:
        pager = NumberedItems(total=100, latency=1.0).pager(concurrency=2)
        async for _ in pager.pages():
            await asyncio.sleep(1.0)
        return asyncio.get_running_loop().time()

    assert in_virtual_time(read()) == pytest.approx(11.0)


async def by_break(pager: Pager[ITwin]) -> None:
    """Leaves the loop."""
    async for item in pager:
        if item.id == "15":
            break


async def by_error(pager: Pager[ITwin]) -> None:
    """Raise in the loop."""
    with pytest.raises(LookupError):  # noqa: PT012  # the error is to come from within the loop
        async for item in pager:
            if item.id == "15":
                raise LookupError


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


async def by_timeout(pager: Pager[ITwin]) -> None:
    """Return up waiting."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2.5):
            await pager.collect()


@pytest.mark.parametrize("leave", [by_break, by_error, by_closing, by_cancelling, by_timeout])
def test_leaving_cancels_requests_in_flight(leave: Callable[[Pager[ITwin]], object]) -> None:
    """Leaving a listing early cancels its requests immediately, and it can be resumed later."""

    async def read() -> None:
        items = NumberedItems(total=1000, latency=1.0)
        pager = items.pager(concurrency=4)
        await leave(pager)  # type: ignore[misc]  # each of the ways is a coroutine function
        before = asyncio.get_running_loop().time()
        for _ in range(10):
            await asyncio.sleep(0)
        assert asyncio.get_running_loop().time() == before
        assert items.in_flight == 0
        assert items.cancelled
        assert len(asyncio.all_tasks()) == 1
        assert items.everything[pager.items_read :] == await items.pager(resume=pager.resume).collect()

    in_virtual_time(read())


def test_requests_behind_the_end_are_cancelled() -> None:
    """The page without a next link ends the listing without waiting for requests behind it."""

    async def read() -> float:
        items = NumberedItems(total=15, latency=1.0)
        await items.pager(concurrency=9).collect()
        assert items.in_flight == 0
        return asyncio.get_running_loop().time()

    assert in_virtual_time(read()) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "link",
    [
        lambda skip: f"?cursor=after-{skip}&$skip={skip}",
        lambda skip: f"?$skip={skip}&$top=9",
        lambda skip: f"?$skip={skip}" if skip % 20 else f"?$top=10&$skip={skip}",
    ],
)
def test_links_are_followed_where_the_service_pages_otherwise(link: Callable[[int], str]) -> None:
    """Cursors, another page size and links that differ among themselves are followed, at the cost of one round."""
    items = NumberedItems(total=200, latency=1.0, link=link)
    assert elapsed(items, concurrency=4) <= 23
    assert len(items.requested) <= 20 + 4


@pytest.mark.parametrize(("total", "seconds", "most_wasted"), [(100, 2.0, 10), (1000, 11.0, 10), (5, 1.0, 0)])
def test_the_first_page_is_requested_alone(total: int, seconds: float, most_wasted: int) -> None:
    """A listing of one page takes one request, and a longer one a round trip before its pages are read ahead."""
    items = NumberedItems(total=total, latency=1.0)

    async def read() -> float:
        assert await items.pager(concurrency=10).collect() == items.everything
        return asyncio.get_running_loop().time()

    assert in_virtual_time(read()) == pytest.approx(seconds)
    assert len(items.requested) <= -(-total // 10) + most_wasted


@pytest.mark.parametrize(
    ("first", "keywords", "ahead"),
    [
        ("?$skip=10&$top=10", {}, [10, 20, 30, 40, 50]),
        ("?$top=10&$skip=10", {}, [10, 20, 30, 40, 50]),
        ("?$skip=10&color=blue", {}, [10]),
        ("?$skip=10", {}, [10, 20, 30, 40, 50]),
        ("?$skip=10", {"concurrency": 1}, [10]),
        ("?$skip=10", {"limit": 35}, [10, 20, 30]),
        ("?$skip=10", {"limit": 11}, [10]),
        ("?$skip=10", {"cap": 25}, [10, 20]),
        ("?$skip=7&$top=10", {}, [7]),
        ("?$skip=10&$top=7", {}, [10]),
        ("?$skip=10&cursor=x", {}, [10]),
        ("?cursor=x", {}, [None]),
    ],
)
async def test_how_far_ahead_is_known(first: str, keywords: dict[str, int], ahead: list[int | None]) -> None:
    """Pages ahead are known where the service pages as requested, up to the limit and the cap; else one is.

    The fifth is requested when the response to the second has arrived, before it is decoded and ends the listing.
    """
    service = linked(first, None, count=10, cap=keywords.pop("cap", None))
    await service.platform.itwins.list(page_size=10, **{"concurrency": 4} | keywords).collect()  # type: ignore[arg-type]  # numbers only
    skips = [httpx.QueryParams(query).get("$skip") for query in service.queries[1:]]
    assert skips == [None if skip is None else str(skip) for skip in ahead]
