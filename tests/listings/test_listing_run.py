"""One run through a listing without a network: where it ends, what it says of itself, where it goes on."""

import sys
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from itwin_platform import PagingError
from itwin_platform._listings.links import page_of, skip_of
from itwin_platform._listings.resume import read_resume
from itwin_platform._listings.run import ListingRun

from tests.support.listing_answers import answer, numbers, run_of, taken


@pytest.mark.parametrize(
    ("got", "cap", "skip", "limit", "has_next", "truncated", "goes_on"),
    [
        # items, X-Max-Return, skip, limit, next link; truncated, goes on
        (10, None, 0, None, False, False, False),
        (10, None, 0, None, True, False, True),
        (10, 20, 0, None, True, False, True),
        (10, 10, 0, None, True, True, False),
        (10, 10, 0, None, False, True, False),
        (9, 10, 0, None, False, False, False),
        (10, 9, 0, None, False, True, False),
        (10, 15, 5, None, False, True, False),
        (10, 15, 5, None, True, False, True),
        (10, 16, 5, None, False, False, False),
        (0, 10, 20, None, False, True, False),
        (10, 20, 0, 10, True, False, False),
        (10, 10, 0, 10, True, True, False),
        (10, 10, 0, 5, True, False, False),
    ],
)
def test_where_the_cap_ends_a_listing(
    *, got: int, cap: int | None, skip: int, limit: int | None, has_next: bool, truncated: bool, goes_on: bool
) -> None:
    """Truncated is what came to the cap, unless the service has more to give below it; nothing is asked for past it."""
    run = run_of(skip=skip, limit=limit)
    href = f"?$skip={skip + got}&$top=10" if has_next else None
    taken(run, answer(numbers(0, got), href, query=page_of(skip=skip, page_size=10), cap=cap))
    assert run.truncated is truncated
    assert bool(run.queries(1)) is goes_on
    assert run.max_return == cap


@pytest.mark.parametrize(
    ("limit", "first", "count", "expected"),
    [
        (None, "?$skip=10&$top=10", 4, [10, 20, 30, 40]),
        (None, "?$skip=10&$top=10", 1, [10]),
        (None, "?$skip=10", 3, [10, 20, 30]),
        (35, "?$skip=10&$top=10", 4, [10, 20, 30]),
        (11, "?$skip=10&$top=10", 4, [10]),
        (None, "?$skip=7&$top=10", 4, [7]),
        (None, "?$skip=10&$top=7", 4, [10]),
        (None, "?cursor=x", 4, [None]),
    ],
)
def test_how_far_ahead_is_known(limit: int | None, first: str, count: int, expected: list[int | None]) -> None:
    """Pages ahead are known where the service pages as asked, up to the limit; else only the next one is."""
    run = run_of(limit=limit)
    assert run.queries(count) == [None]
    taken(run, answer(numbers(0, 10), first))
    assert [skip_of(query or ()) for query in run.queries(count)] == expected


def test_no_page_past_the_cap_is_asked_for_ahead() -> None:
    """What X-Max-Return cuts off is not asked for, but a link to it is followed."""
    run = run_of()
    taken(run, answer(numbers(0, 10), "?$skip=10&$top=10", cap=25))
    assert [skip_of(query or ()) for query in run.queries(9)] == [10, 20]


@pytest.mark.parametrize(
    "second", ["?$skip=20&$top=10&cursor=x", "?$top=10&$skip=20", "?$skip=17&$top=10", "?cursor=x"]
)
def test_a_link_that_says_more_than_the_place_is_followed_from_then_on(second: str) -> None:
    """Once a link is other than foreseen, links are followed one by one to the end."""
    run = run_of()
    taken(run, answer(numbers(0, 10), "?$skip=10&$top=10"))
    taken(run, answer(numbers(10, 20), second, query=run.queries(4)[0]))
    (query,) = run.queries(4)
    assert query is not None
    taken(run, answer(numbers(20, 30), "?$skip=30&$top=10", query=query))
    assert run.queries(4) == [(("$skip", "30"), ("$top", "10"))]


def test_a_problem_comes_after_the_items() -> None:
    """A link that must not be followed is told when its page has been handed out, and then no more is asked for."""
    run = run_of()
    page = taken(run, answer(numbers(0, 10), "//elsewhere.example/"))
    assert page.items == numbers(0, 10)
    assert page.resume is not None
    assert isinstance(run.problem, PagingError)
    assert run.queries(1) == []


def test_a_loop_of_cursors_is_a_problem() -> None:
    """A cursor that came before is not followed a second time."""
    run = run_of()
    for cursor in ("a", "b"):
        taken(run, answer(["x"], f"?cursor={cursor}", query=run.queries(1)[0]))
    taken(run, answer(["x"], "?cursor=a", query=run.queries(1)[0]))
    assert "was read before" in str(run.problem)


def test_a_limit_that_is_reached_needs_no_link() -> None:
    """A link behind the last item wanted is not judged: it is not needed."""
    run = run_of(limit=10)
    taken(run, answer(numbers(0, 10), "//elsewhere.example/"))
    assert run.problem is None
    assert run.queries(1) == []


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 30) | st.none(), st.data())
def test_resuming_after_any_item_gives_the_rest(sizes: list[int], limit: int | None, data: st.DataObject) -> None:
    """Wherever a run stops, a new one from its position gives what is left, once."""
    bounds = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    pages = {bound: (numbers(bound, behind), behind) for bound, behind in pairwise(bounds) if bound < behind}
    total = bounds[-1]

    def read(run: ListingRun[str], most: int) -> list[str]:
        items: list[str] = []
        while (queries := run.queries(1)) and len(items) < most:
            query = queries[0] or page_of(skip=0, page_size=10)
            content, behind = pages.get(skip_of(query) or 0, ([], total))
            page = run.take(answer(content, f"?$skip={behind}" if behind < total else None, query=query))
            handed_out = page.items[: most - len(items)]
            run.hand_out(len(handed_out))
            items += handed_out
            assert run.items_read == len(items)
        return items

    whole = numbers(0, total)[:limit]
    stop = data.draw(st.integers(0, len(whole)))
    first = run_of(limit=limit)
    before = read(first, stop)
    start = read_resume(first.resume, listing="numbers")
    assert before + read(run_of(limit=limit, start=start), 10_000) == whole
    assert start.items == stop


@pytest.mark.parametrize("limit", [None, 10, 15, 20, 25])
def test_the_resume_of_a_page_is_none_only_when_nothing_is_left(limit: int | None) -> None:
    """Also when the limit ended the run, a page says where the rest begins."""
    run = run_of(limit=limit)
    first = taken(run, answer(numbers(0, 10), "?$skip=10&$top=10"))
    assert first.resume is not None
    if not run.queries(1):
        return
    last = taken(run, answer(numbers(10, 20), query=run.queries(1)[0]))
    assert (last.resume is None) is (limit != 15)


def test_empty_pages_without_end_take_no_memory() -> None:
    """Any number of empty pages in a row is walked, as long as each advances, in memory that does not grow."""
    run, before = run_of(), 0
    for step in range(1, 30_001):
        taken(run, answer([], f"?$skip={step}", query=run.queries(1)[0]))
        if step == 2_000:
            before = sys.getallocatedblocks()
    assert run.pages_read == 30_000
    assert sys.getallocatedblocks() - before < 1_000
