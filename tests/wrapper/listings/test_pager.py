"""Pagers: lazy, by item, by page, as a list, and resumed."""

import asyncio
from contextlib import aclosing
from typing import Any

import httpx
import pytest
from itwin_platform import ITwin, NotSentError, Page, PlatformError, ServerError, TruncatedWarning, UsageError

from tests.support.calls import ITWINS_PER_PAGE as MOST
from tests.wrapper.listings.conftest import NumberedItems


async def test_nothing_is_requested_before_the_iteration() -> None:
    """A new pager and its properties send no request."""
    items = NumberedItems(5)
    pager = items.pager()
    assert (pager.truncated, pager.max_return, pager.is_partial, pager.changed) == (False, None, False, False)
    assert (pager.duplicates, pager.pages_read, pager.items_read) == (0, 0, 0)
    assert isinstance(pager.resume, str)
    assert items.requests == []


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_three_ways_to_read(concurrency: int) -> None:
    """Items, pages and the list hold the same, in order; each page describes its response."""
    items = NumberedItems(25, cap=100)
    pager = items.pager(concurrency=concurrency)
    assert [item async for item in pager] == items.everything
    pages = [page async for page in pager.pages()]
    assert [item for page in pages for item in page.items] == items.everything
    assert [page.response and page.response.status for page in pages] == [200, 200, 200]
    assert await pager.collect() == items.everything
    assert (pager.pages_read, pager.items_read, pager.max_return, pager.truncated) == (3, 25, 100, False)


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (0, 0)])
async def test_the_first_page_takes_one_request(limit: int | None, count: int) -> None:
    """`first_page` sends one request, also if tasks start immediately, and its page continues the listing."""
    items = NumberedItems(25)
    asyncio.get_running_loop().set_task_factory(getattr(asyncio, "eager_task_factory", None))  # Python 3.12
    first = await items.pager(concurrency=5, limit=limit).first_page()
    assert (first.items, len(items.requests)) == (items.everything[:count], min(count, 1))
    assert await items.pager(resume=first.resume).collect() == items.everything[count:]


async def test_a_pager_that_is_used_like_a_list_is_a_type_error() -> None:
    """`await pager` and `for item in pager` name `async for` and `collect()`."""
    pager: Any = NumberedItems(0).pager()
    with pytest.raises(TypeError, match=r"await pager\.collect\(\)"):
        await pager
    with pytest.raises(TypeError, match="async for item in pager"):
        list(pager)


async def test_each_iteration_is_a_run_of_its_own() -> None:
    """Each iteration requests the pages again, and two iterations are independent."""
    items = NumberedItems(25)
    pager = items.pager()
    one, other = aiter(pager), aiter(pager)
    read = [await anext(one), await anext(one), await anext(other), await anext(one), await anext(other)]
    assert ([itwin.id for itwin in read], len(items.requests)) == (["0", "1", "0", "2", "1"], 2)
    assert pager.items_read == 2, "the properties of a pager are those of the last run"
    assert [item async for item in one] == items.everything[3:]
    assert [item async for item in other] == items.everything[2:]


async def test_a_listing_that_resumes_after_each_item_is_truncated_at_the_cap() -> None:
    """Each resume counts the items of the earlier runs once."""
    items, resume = NumberedItems(20, cap=20), None
    for number in range(20):
        pager = items.pager(resume=resume, limit=number + 1)
        assert (await pager.collect(), pager.truncated) == ([items.everything[number]], number == 19)
        resume = pager.resume


@pytest.mark.parametrize(
    ("page_size", "limit", "sizes"),
    [
        *((10, 0, []), (10, 10, [10]), (10, 11, [10, 10]), (10, 25, [10, 10, 10])),
        *((None, 1, [1]), (None, MOST, [MOST]), (None, 2 * MOST + 50, [MOST, MOST, 50])),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 4])
async def test_limit_bounds_items_and_pages(
    page_size: int | None, limit: int, sizes: list[int], concurrency: int
) -> None:
    """`limit` bounds the items, the pages, and the default page size."""
    items = NumberedItems(2 * MOST + 100, page_size=page_size, links=("?$skip={0}",))
    assert await items.pager(limit=limit, concurrency=concurrency).collect() == items.everything[:limit]
    assert [int(request.url.params["$top"]) for request in items.requests] == sizes


async def test_a_small_limit_does_not_shrink_the_pages_of_a_resumed_run() -> None:
    """A resumed run requests pages of its own size, not of the size that the limit of an earlier run gave."""
    items = NumberedItems(2 * MOST + MOST // 2, page_size=None)
    await anext(aiter(pager := items.pager(limit=3)))
    assert await items.pager(resume=pager.resume).collect() == items.everything[1:]
    assert [request.url.params["$top"] for request in items.requests] == ["3", "3", *[str(MOST)] * 3]


@pytest.mark.parametrize(
    ("keyword", "value", "says"),
    [
        *(("limit", value, "limit must be an integer of at least 0") for value in (-1, 1.5)),
        *(("concurrency", value, "concurrency must be an integer of at least 1") for value in (0, True)),
    ],
)
async def test_the_keywords_of_a_pager_are_checked(keyword: str, value: Any, says: str) -> None:
    """An invalid keyword is a UsageError when the pager is made."""
    with pytest.raises(UsageError, match=says):
        NumberedItems(5).pager(**{keyword: value})


async def test_on_page_is_called_with_each_page_before_its_items() -> None:
    """`on_page` is called with each page before its items, or this page, are returned."""
    seen: list[Page[ITwin]] = []
    pager = NumberedItems(25).pager(on_page=seen.append)
    assert [len(seen) async for _ in pager] == [1] * 10 + [2] * 10 + [3] * 5
    assert [page is seen[-1] and len(page.items) async for page in pager.pages()] == [10, 10, 5]


@pytest.mark.parametrize(("done", "refused", "first"), [(0, "10", 10), (3, "3", 3)])
async def test_an_error_of_on_page_ends_the_run_before_the_page(done: int, refused: str, first: int) -> None:
    """An exception of `on_page` reaches the caller, and a resume returns its page again."""

    def refuse(page: Page[ITwin]) -> None:
        if page.items[0].id == refused:
            raise LookupError

    items = NumberedItems(25)
    await (begun := items.pager(limit=done)).collect()
    pager = items.pager(on_page=refuse, concurrency=2, resume=begun.resume)
    with pytest.raises(LookupError):
        await pager.collect()
    assert items.in_flight == 0
    assert await items.pager(resume=pager.resume).collect() == items.everything[first:]


@pytest.mark.parametrize(("error", "kind"), [(httpx.ConnectError("broken"), NotSentError), (500, ServerError)])
@pytest.mark.parametrize(("concurrency", "most"), [(1, 30), (3, 50), (8, 100)])
async def test_an_error_has_the_collected_items_and_a_resume(
    error: int | Exception, kind: type[PlatformError], concurrency: int, most: int
) -> None:
    """An error has the items before the failed page, and a resume that returns the others."""
    items = NumberedItems(45, errors={30: error})
    pager = items.pager(concurrency=concurrency)
    with pytest.raises(kind) as caught:
        await pager.collect()
    assert max(items.requested) == most, "no more pages are requested than fit in flight"
    assert pager.collected == caught.value.collected == tuple(items.everything[:30])
    assert caught.value.route == "/itwins/"
    items.errors.clear()
    assert await items.pager(concurrency=concurrency, resume=caught.value.resume).collect() == items.everything[30:]


async def test_a_truncated_listing_warns_and_names_the_ways_on() -> None:
    """A run that the cap ends warns once, at the line of the caller, and names the ways to the other items."""
    pager = NumberedItems(25, cap=20).pager(limit=30)
    with pytest.warns(TruncatedWarning, match=r"max_return=20.*sub_class.*filter.*list_all") as caught:
        items, pages = await pager.collect() + [item async for item in pager], [page async for page in pager.pages()]
    assert (len(items), len(pages)) == (40, 2)
    assert [each.filename for each in caught] == [__file__] * 3


@pytest.mark.parametrize(("total", "limit"), [(19, None), (25, 20), (25, 5)])
async def test_collect_does_not_warn_of_a_complete_listing(total: int, limit: int | None) -> None:
    """A complete listing, and one that ends at its `limit`, give no warning."""
    items = NumberedItems(total, cap=20)
    first = items.pager(limit=limit)
    await anext(aiter(first))
    wanted = items.everything[:limit]
    assert await first.collect() == wanted
    await anext(aiter(first))
    assert await items.pager(limit=limit, resume=first.resume).collect() == wanted[1:]


@pytest.mark.parametrize(("concurrency", "counts"), [(1, [1, 1, 0, 1, 1]), (4, [1, 1, 0, 5, 5])])
async def test_the_pages_that_are_requested_again(concurrency: int, counts: list[int]) -> None:
    """Resuming requests again the page of the last item, unless it was complete, and the pages in flight behind it."""
    items, again = NumberedItems(100), list[int]()
    for count in (1, 9, 10, 11, 59):
        items.requests.clear()
        pager = items.pager(concurrency=concurrency)
        async with aclosing(aiter(pager)) as reader:
            for _ in range(count):
                await anext(reader)
        await items.pager(concurrency=concurrency, resume=pager.resume).collect()
        again.append(len(items.queries) - len(set(items.queries)))
    assert again == counts


@pytest.mark.parametrize("limit", [None, 10, 15, 40, 45, 50])
async def test_a_listing_resumes_after_every_page(limit: int | None) -> None:
    """`page.resume` gives the items after the page; it is None only when nothing is left, also behind a limit."""
    items = NumberedItems(45)
    for number, page in enumerate([page async for page in items.pager(limit=limit).pages()], 1):
        rest = items.everything[min(number * 10, limit or 45) :]
        assert (page.resume is None) is (rest == [])
        if page.resume is not None:
            assert await items.pager(resume=page.resume).collect() == rest
