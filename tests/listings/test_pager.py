"""Pagers as callers use them: lazily, by item, by page, as a list, and from where an earlier run ended."""

import warnings

import httpx
import pytest
from itwin_platform import ITwin, NotSentError, Page, ServerError, TruncatedWarning, UsageError

from tests.support.numbered_items import NumberedItems


async def test_nothing_is_asked_before_it_is_iterated() -> None:
    """Making a pager, and asking what it says of itself, sends nothing."""
    items = NumberedItems(total=5)
    pager = items.pager()
    assert (pager.truncated, pager.max_return, pager.is_partial, pager.changed) == (False, None, False, False)
    assert (pager.duplicates, pager.pages_read, pager.items_read) == (0, 0, 0)
    assert isinstance(pager.resume, str)
    assert items.requested == []


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_three_ways_to_read(concurrency: int) -> None:
    """Items, pages and the list hold the same, in order."""
    items = NumberedItems(total=25, cap=100)
    pager = items.pager(concurrency=concurrency)
    assert [item async for item in pager] == items.everything
    assert [item async for page in pager.pages() for item in page.items] == items.everything
    assert await pager.collect() == items.everything
    assert (pager.pages_read, pager.items_read, pager.max_return, pager.truncated) == (3, 25, 100, False)


async def test_each_iteration_is_a_run_of_its_own() -> None:
    """Iterating twice asks twice, and two runs at once do not disturb each other."""
    items = NumberedItems(total=25)
    pager = items.pager()
    one, other = aiter(pager), aiter(pager)
    read = [await anext(one), await anext(one), await anext(other), await anext(one), await anext(other)]
    assert [itwin.id for itwin in read] == ["0", "1", "0", "2", "1"]
    assert pager.items_read == 2, "what the pager says is said of the run that began last"
    assert [item async for item in one] == items.everything[3:]
    assert [item async for item in other] == items.everything[2:]


@pytest.mark.parametrize(("limit", "pages"), [(0, 0), (5, 1), (10, 1), (11, 2), (20, 2), (25, 3)])
@pytest.mark.parametrize("concurrency", [1, 3])
async def test_limit_is_how_many_items_are_wanted(limit: int, pages: int, concurrency: int) -> None:
    """No more items than wanted, and no page behind them."""
    items = NumberedItems(total=25)
    assert await items.pager(limit=limit, concurrency=concurrency).collect() == items.everything[:limit]
    assert len(items.requested) == pages


async def test_a_limit_can_be_raised_when_a_run_is_resumed() -> None:
    """`limit` counts the items before `resume`, too."""
    items = NumberedItems(total=25)
    first = items.pager(limit=7)
    await first.collect()
    assert await items.pager(limit=7, resume=first.resume).collect() == []
    assert await items.pager(limit=12, resume=first.resume).collect() == items.everything[7:12]
    assert await items.pager(resume=first.resume).collect() == items.everything[7:]


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"limit": -1}, "limit must be an integer of at least 0"),
        ({"limit": 1.5}, "limit must be an integer of at least 0"),
        ({"concurrency": 0}, "concurrency must be an integer of at least 1"),
        ({"concurrency": True}, "concurrency must be an integer of at least 1"),
        ({"resume": "other"}, "resume is not a string that this client returned"),
    ],
)
def test_the_callers_numbers_are_checked(numbers: dict[str, int | str], says: str) -> None:
    """What cannot be meant is rejected when the pager is made."""
    with pytest.raises(UsageError, match=says):
        NumberedItems(total=5).pager(**numbers)  # type: ignore[arg-type]  # wrong on purpose


async def test_on_page_is_called_with_each_page_before_its_items() -> None:
    """`on_page` is called with each page before its items are returned."""
    seen: list[int] = []
    pager = NumberedItems(total=25).pager(on_page=lambda page: seen.append(len(page.items)))
    read = [len(seen) async for _ in pager]
    assert seen == [10, 10, 5]
    assert (read[0], read[10]) == (1, 2)


async def test_an_error_of_on_page_ends_the_run_before_the_page() -> None:
    """What a callback raises reaches the caller, and the page counts as not handed out."""

    def refuse(page: Page[ITwin]) -> None:
        if page.items[0].id == "10":
            raise LookupError

    items = NumberedItems(total=25)
    pager = items.pager(on_page=refuse, concurrency=2)
    with pytest.raises(LookupError):
        [item async for item in pager]
    assert items.in_flight == 0
    assert await items.pager(resume=pager.resume).collect() == items.everything[10:]


async def test_an_error_of_on_page_in_a_resumed_run_goes_back_no_further() -> None:
    """A run that begins within a page, and hands out nothing of it, ends where it began."""

    def refuse(_: Page[ITwin]) -> None:
        raise LookupError

    items = NumberedItems(total=25)
    begun = items.pager(limit=3)
    await begun.collect()
    pager = items.pager(on_page=refuse, resume=begun.resume)
    with pytest.raises(LookupError):
        await pager.collect()
    assert await items.pager(resume=pager.resume).collect() == items.everything[3:]


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_an_error_says_where_to_go_on_and_what_was_read(concurrency: int) -> None:
    """The items until then are on the error, and its resume gives the others."""
    items = NumberedItems(total=45, errors={20: httpx.ConnectError("broken")})
    with pytest.raises(NotSentError) as caught:
        await items.pager(concurrency=concurrency).collect()
    items.errors.clear()
    rest = await items.pager(concurrency=concurrency, resume=caught.value.resume).collect()
    assert [*caught.value.collected, *rest] == items.everything


async def test_an_error_ahead_waits_for_its_turn() -> None:
    """The pages before a failed one are returned first, however early it failed."""
    items = NumberedItems(total=45, errors={30: httpx.ConnectError("broken")})
    pager = items.pager(concurrency=8)
    with pytest.raises(NotSentError) as caught:
        await pager.collect()
    assert max(items.requested) == 100, "no more than eight pages are asked for behind the last that came"
    assert list(caught.value.collected) == items.everything[:30]
    assert pager.collected == caught.value.collected


async def test_collect_warns_of_a_cap_and_names_the_ways_on() -> None:
    """A truncated list gives a TruncatedWarning at the caller's line that says how to get the rest."""
    with pytest.warns(TruncatedWarning, match=r"max_return=20.*sub_class.*filter.*list_all") as caught:
        assert len(await NumberedItems(total=25, cap=20).pager().collect()) == 20
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("total", "limit"), [(19, None), (25, 20), (25, 5)])
async def test_collect_does_not_warn_of_a_complete_listing(total: int, limit: int | None) -> None:
    """A complete listing, and one with a `limit`, give no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await NumberedItems(total=total, cap=20).pager(limit=limit).collect()


async def test_a_resumed_run_whose_limit_is_reached_does_not_warn() -> None:
    """The limit counts what earlier runs read."""
    items = NumberedItems(total=25, cap=20)
    pager = items.pager(limit=20)
    await anext(aiter(pager))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(await items.pager(limit=20, resume=pager.resume).collect()) == 19


async def test_the_errors_of_a_page_say_where_to_continue() -> None:
    """Errors reach the caller as those of other calls do, with the position added."""
    with pytest.raises(ServerError) as caught:
        await NumberedItems(total=5, errors={0: 500}).pager().collect()
    assert (caught.value.resume is not None, caught.value.route) == (True, "/itwins/")


async def test_collect_warns_once() -> None:
    """A pager that is collected twice warns once; what it reports stays."""
    pager = NumberedItems(total=25, cap=20).pager()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await pager.collect()
        await pager.collect()
    assert [warning.category for warning in caught] == [TruncatedWarning]
    assert pager.truncated


async def test_a_page_describes_its_response() -> None:
    """Each page has the status, the headers and the attempts of its response."""
    pages = [page async for page in NumberedItems(total=25).pager().pages()]
    assert [page.response and page.response.status for page in pages] == [200, 200, 200]


@pytest.mark.parametrize(
    ("limit", "sizes"), [(1, [1]), (999, [999]), (1000, [1000]), (1400, [1000, 400]), (2500, [1000, 1000, 500])]
)
@pytest.mark.parametrize("concurrency", [1, 4])
async def test_limit_bounds_what_is_requested(limit: int, sizes: list[int], concurrency: int) -> None:
    """No request asks for more than the limit leaves, where the caller chose no page size."""
    items = NumberedItems(total=2600, page_size=None, link=lambda skip: f"?$skip={skip}")
    assert await items.pager(limit=limit, concurrency=concurrency).collect() == items.everything[:limit]
    assert items.sizes == sizes


async def test_a_small_limit_does_not_shrink_the_pages_of_a_resumed_run() -> None:
    """The page size of a run belongs to it: a run that reads on asks for its own, not for that of the run before."""
    items = NumberedItems(
        total=2500, page_size=None, link=lambda skip: f"?$skip={skip}&$top={3 if skip == 3 else 1000}"
    )
    pager = items.pager(limit=3)
    await anext(aiter(pager))
    assert await items.pager(resume=pager.resume).collect() == items.everything[1:]
    assert items.sizes == [3, 3, 1000, 1000, 1000]
