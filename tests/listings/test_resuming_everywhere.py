"""A listing that stops after any item continues with the next one, in the same process or in another."""

from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.numbered_items import NumberedItems
from tests.support.timed_itwins import TimedITwins


def cursors(skip: int) -> str:
    """Return a link that names its page by a cursor."""
    return f"?$skip={skip}&cursor=after%2B{skip}"


@pytest.mark.parametrize(("concurrency", "link"), [(1, cursors), (4, None)])
async def test_after_every_item(concurrency: int, link: object) -> None:
    """After each of 75 items, the items so far and those of a new pager with `resume` are all items once."""
    items = NumberedItems(total=75, page_size=9)
    items.link = cursors if link else lambda skip: f"?$skip={skip}&$top=9"
    everything, resumes = items.everything, list[str]()
    pager = items.pager(concurrency=concurrency)
    async for _ in pager:
        resumes.append(pager.resume)  # it changes with every item
    assert len(set(resumes)) == 75
    for number, resume in enumerate(resumes, 1):
        rest = items.pager(concurrency=concurrency, resume=resume)
        assert await rest.collect() == everything[number:]
        assert rest.items_read == 75 - number


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (2, 3), (4, 5)])
async def test_what_is_requested_again(concurrency: int, most: int) -> None:
    """Resuming requests again the page of the last item, and at most the pages that were in flight behind it."""
    again: list[int] = []
    for count in range(1, 60):
        items = NumberedItems(total=100)
        pager = items.pager(concurrency=concurrency)
        async with aclosing(aiter(pager)) as reader:
            for _ in range(count):
                await anext(reader)
        await items.pager(concurrency=concurrency, resume=pager.resume).collect()
        again.append(len(items.requested) - len(set(items.requested)))
    assert max(again) == most


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (4, 5)])
async def test_what_list_all_requests_again(concurrency: int, most: int) -> None:
    """Resuming `list_all` requests no more pages again, also at the end of a range."""
    for count in range(1, 60, 3):
        itwins = TimedITwins(times={str(day): datetime(2026, 1, 1, tzinfo=UTC) + timedelta(day) for day in range(60)})
        pager = itwins.pager(concurrency=concurrency)
        async with aclosing(aiter(pager)) as reader:
            for _ in range(count):
                await anext(reader)
        before, itwins.queries = pages_of(itwins), []
        await itwins.pager(concurrency=concurrency, resume=pager.resume).collect()
        assert sum(query in before for query in pages_of(itwins)) <= most


def pages_of(itwins: TimedITwins) -> list[dict[str, str]]:
    """The requests for pages: not those for a time only."""
    return [query for query in itwins.queries if "$select" not in query]


async def test_after_every_page() -> None:
    """`page.resume` gives the items after the page, and is None on the last page."""
    items = NumberedItems(total=95)
    pages = [page async for page in items.pager().pages()]
    for number, page in enumerate(pages[:-1], 1):
        assert page.resume is not None
        assert await items.pager(resume=page.resume).collect() == items.everything[number * 10 :]
    assert pages[-1].resume is None


@pytest.mark.parametrize("limit", [None, 10, 15, 20, 25])
async def test_the_resume_of_a_page_is_none_only_when_nothing_is_left(limit: int | None) -> None:
    """Also when the limit ended the run, a page says where the rest begins."""
    items = NumberedItems(total=20)
    *_, last = [page async for page in items.pager(limit=limit).pages()]
    assert (last.resume is None) is (limit not in (10, 15))
    if last.resume is not None:
        assert await items.pager(resume=last.resume).collect() == items.everything[limit:]
