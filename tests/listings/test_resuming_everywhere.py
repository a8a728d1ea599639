"""A listing that stops after any item continues with the next one, in the same process or in another."""

from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.numbered_items import NumberedItems
from tests.support.timed_itwins import TimedITwins


def cursors(skip: int) -> str:
    """A link that names its page by something else than a number of items."""
    return f"?$skip={skip}&cursor=after%2B{skip}"


@pytest.mark.parametrize(("concurrency", "link"), [(1, cursors), (4, None)])
async def test_after_every_item(concurrency: int, link: object) -> None:
    """For each of 300 items: what came until then and what a new pager gives from there is everything, once."""
    items = NumberedItems(total=300, page_size=37)
    items.link = cursors if link else lambda skip: f"?$skip={skip}&$top=37"
    everything, resumes = items.everything, list[str]()
    pager = items.pager(concurrency=concurrency)
    async for _ in pager:
        resumes.append(pager.resume)  # it changes with every item
    assert len(set(resumes)) == 300
    for place, resume in enumerate(resumes, 1):
        rest = items.pager(concurrency=concurrency, resume=resume)
        assert await rest.collect() == everything[place:]
        assert rest.items_read == 300 - place


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (2, 3), (4, 5)])
async def test_what_is_requested_again(concurrency: int, most: int) -> None:
    """A reader that is gone after any item: the page of that item, and at most those in flight behind it."""
    again: list[int] = []
    for count in range(1, 120):
        items = NumberedItems(total=200)
        pager = items.pager(concurrency=concurrency)
        async with aclosing(aiter(pager)) as reader:
            for _ in range(count):
                await anext(reader)
        await items.pager(concurrency=concurrency, resume=pager.resume).collect()
        again.append(len(items.requested) - len(set(items.requested)))
    assert max(again) == most


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (4, 5)])
async def test_what_list_all_requests_again(concurrency: int, most: int) -> None:
    """The same, also where one range of time ends and the next begins."""
    for count in range(1, 60):
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
    """The resume of each page gives what follows it, and that of the last is None."""
    items = NumberedItems(total=95)
    pages = [page async for page in items.pager().pages()]
    for number, page in enumerate(pages[:-1], 1):
        assert page.resume is not None
        assert await items.pager(resume=page.resume).collect() == items.everything[number * 10 :]
    assert pages[-1].resume is None


async def test_resuming_again_and_again() -> None:
    """A reader that stops after every single item still reads everything once."""
    items = NumberedItems(total=45)
    read: list[str] = []
    resume: str | None = None
    while len(read) < 45:
        pager = items.pager(resume=resume)
        read.append(await anext(aiter(pager)))
        resume = pager.resume
    assert read == items.everything
    assert await items.pager(resume=resume).collect() == []
