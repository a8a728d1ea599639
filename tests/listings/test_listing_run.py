"""One run through a listing without a network: where it ends, what it reports of itself, where it continues."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from itwin_platform import PagingError
from itwin_platform._listings.links import Query, skip_of
from itwin_platform._listings.resume import Position, read_resume, write_resume
from itwin_platform._listings.run import ListingRun

from tests.support.listing_runs import content, numbers, offsets, queries, run_of, taken


def page_at(skip: int, page_size: int) -> Query:
    """The query of the page that begins at an offset."""
    return (("$skip", str(skip)), ("$top", str(page_size)))


@pytest.mark.parametrize(
    ("got", "cap", "skip", "limit", "has_next", "truncated", "continues"),
    [
        # items, X-Max-Return, skip, limit, next link; truncated, continues
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
    *, got: int, cap: int | None, skip: int, limit: int | None, has_next: bool, truncated: bool, continues: bool
) -> None:
    """A listing is truncated at the cap, unless the service has more below it; nothing past it is requested."""
    run = run_of(skip=skip, limit=limit)
    taken(run, content(numbers(0, got), f"?$skip={skip + got}&$top=10" if has_next else None, cap=cap))
    assert run.truncated is truncated
    assert bool(run.requests(1)) is continues
    assert run.max_return == cap


@pytest.mark.parametrize(
    ("limit", "first", "count", "expected"),
    [
        (None, "?$skip=10&$top=10", 4, [10, 20, 30, 40]),
        (None, "?$top=10&$skip=10", 4, [10, 20, 30, 40]),
        (None, "?$skip=10&$top=10", 1, [10]),
        (None, "?$skip=10", 3, [10, 20, 30]),
        (None, "?$skip=10&color=blue", 3, [10, 20, 30]),
        (35, "?$skip=10&$top=10", 4, [10, 20, 30]),
        (11, "?$skip=10&$top=10", 4, [10]),
        (None, "?$skip=7&$top=10", 4, [7]),
        (None, "?$skip=10&$top=7", 4, [10]),
        (None, "?$skip=10&cursor=x", 4, [10]),
        (None, "?cursor=x", 4, [None]),
    ],
)
def test_how_far_ahead_is_known(limit: int | None, first: str, count: int, expected: list[int | None]) -> None:
    """Pages ahead are known where the service pages as requested, up to the limit; else only the next one is."""
    run = run_of(limit=limit)
    assert len(offsets(run, count)) == 1
    taken(run, content(numbers(0, 10), first))
    assert offsets(run, count) == expected


def test_no_page_past_the_cap_is_requested_ahead() -> None:
    """What X-Max-Return cuts off is not requested, but a link to it is followed."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?$skip=10&$top=10", cap=25))
    assert offsets(run, 9) == [10, 20]


def test_the_last_page_is_as_small_as_the_limit_leaves() -> None:
    """Without a page size of the caller, no request asks for more than the limit leaves."""
    run = run_of(limit=25, shrinks=True)
    taken(run, content(numbers(0, 10), "?$skip=10&$top=10"))
    assert queries(run, 9) == [page_at(10, 10), page_at(20, 5)]
    taken(run, content(numbers(10, 20), "?cursor=x"))
    assert queries(run, 9) == [(("cursor", "x"), ("$top", "5"))]


def test_a_small_limit_does_not_shrink_the_pages_of_a_resumed_run() -> None:
    """The page size of a run belongs to it: a run that reads on asks for its own, not for that of the run before."""
    run = run_of(limit=3, shrinks=True)
    taken(run, content(numbers(0, 3), "?$skip=3&$top=3"))
    assert queries(run_of(start=run.end, shrinks=True), 1) == [page_at(3, 10)]
    within = Position(query=page_at(0, 3), done=1, items=1)
    rest = run_of(limit=50, start=within, shrinks=True)
    assert queries(rest, 1) == [page_at(0, 3)]
    page = taken(rest, content(numbers(0, 3), "?$skip=3&$top=3"))
    assert page.items == numbers(1, 3)
    assert queries(rest, 2) == [page_at(3, 10), page_at(13, 10)]


def test_a_page_size_of_the_services_own_is_kept() -> None:
    """A page size in a link is kept when it is not the one that was requested, for as long as the links have it."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?$skip=10&$top=7"))
    assert queries(run, 4) == [page_at(10, 7)]
    taken(run, content(numbers(10, 17), "?$skip=17&$top=7"))
    assert queries(run, 1) == [page_at(17, 7)]


@pytest.mark.parametrize("second", ["?$skip=20&$top=10&cursor=x", "?$skip=17&$top=10", "?cursor=x"])
def test_a_link_that_is_not_as_foreseen_is_followed_from_then_on(second: str) -> None:
    """Once a link is other than foreseen, links are followed one by one to the end."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?$skip=10&$top=10"))
    taken(run, content(numbers(10, 20), second))
    assert len(queries(run, 4)) == 1
    taken(run, content(numbers(20, 30), "?$skip=30&$top=10"))
    assert queries(run, 4) == [(("$skip", "30"), ("$top", "10"))]


def test_a_problem_comes_after_the_items() -> None:
    """A link that must not be followed is reported when its page has been handed out; then nothing is requested."""
    run = run_of()
    page = taken(run, content(numbers(0, 10), "//elsewhere.example/"))
    assert page.items == numbers(0, 10)
    assert page.resume is not None
    assert isinstance(run.problem, PagingError)
    assert run.requests(1) == []


def test_a_loop_of_cursors_is_a_problem() -> None:
    """A cursor that came before is not followed a second time."""
    run = run_of()
    for cursor in ("a", "b", "a"):
        taken(run, content(["x"], f"?cursor={cursor}"))
    assert "was read before" in str(run.problem)


def test_a_limit_that_is_reached_needs_no_link() -> None:
    """A link behind the last item wanted is not judged: it is not needed."""
    run = run_of(limit=10)
    taken(run, content(numbers(0, 10), "//elsewhere.example/"))
    assert run.problem is None
    assert run.requests(1) == []


@given(st.integers(0, 30), st.integers(1, 30))
def test_no_loop_of_links_is_followed(before: int, length: int) -> None:
    """Pages that lead back to an earlier one end the listing with an error, before a page is requested twice."""
    run = run_of()
    for page in range(before + length):
        taken(run, content([str(page)], f"?cursor={page}"))
    assert run.problem is None
    taken(run, content(["last"], f"?cursor={before}"))
    assert run.problem is not None
    assert run.requests(9) == []


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 30) | st.none(), st.data())
def test_resuming_after_any_item_gives_the_rest(sizes: list[int], limit: int | None, data: st.DataObject) -> None:
    """Wherever a run stops, a new one from its position gives what is left, once."""
    bounds = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    pages = {bound: (numbers(bound, behind), behind) for bound, behind in pairwise(bounds) if bound < behind}
    total = bounds[-1]

    def read(run: ListingRun[str], most: int) -> list[str]:
        items: list[str] = []
        while (requests := run.requests(1)) and len(items) < most:
            held, behind = pages.get(skip_of(requests[0].query) or 0, ([], total))
            page = run.take(requests[0], content(held, f"?$skip={behind}" if behind < total else None))
            handed_out = page.items[: most - len(items)]
            run.hand_out(len(handed_out))
            items += handed_out
            assert run.items_read == len(items)
        return items

    complete = numbers(0, total)[:limit]
    stop = data.draw(st.integers(0, len(complete)))
    first = run_of(limit=limit)
    before = read(first, stop)
    text = write_resume(first.position, listing="numbers")
    start = read_resume(text, listing="numbers", keywords=frozenset())
    assert start == first.position
    assert before + read(run_of(limit=limit, start=start), 10_000) == complete
    assert start.items == stop


@pytest.mark.parametrize("limit", [None, 10, 15, 20, 25])
def test_the_resume_of_a_page_is_none_only_when_nothing_is_left(limit: int | None) -> None:
    """Also when the limit ended the run, a page says where the rest begins."""
    run = run_of(limit=limit)
    first = taken(run, content(numbers(0, 10), "?$skip=10&$top=10"))
    assert first.resume is not None
    if not run.requests(1):
        return
    last = taken(run, content(numbers(10, 20)))
    assert (last.resume is None) is (limit != 15)


def test_keywords_of_a_link_are_dropped() -> None:
    """Whatever a link says of the keywords of the call, each page is requested with those of the first one."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?COLOR=blue&$skip=10&$filter=x&$top=10&expand=y"))
    (request,) = run.requests(1)
    assert request.values.query == "color=red&$skip=10&$top=10"


def test_empty_pages_without_end_are_an_error() -> None:
    """Ten empty pages in a row are followed as long as each advances; a page with items starts the count again."""
    run = run_of()
    for step in range(1, 22):
        assert run.problem is None
        taken(run, content(["a"] if step == 11 else [], f"?$skip={step}"))
    assert run.problem is None
    taken(run, content([], "?$skip=30"))
    assert str(run.problem) == "11 pages in a row were empty, and each links to another one"
    assert offsets(run, 1) == []


def test_an_offset_past_the_cap_is_an_error() -> None:
    """A service that links past X-Max-Return without returning as many items does not come to an end."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?$skip=10&$top=10", cap=25))
    taken(run, content([], "?$skip=25&$top=10", cap=25))
    assert run.problem is None
    taken(run, content([], "?$skip=35&$top=10", cap=25))
    assert "leads past max_return=25" in str(run.problem)


def test_a_cursor_is_sent_as_it_came() -> None:
    """The value of a cursor reaches the service as the service wrote it."""
    run = run_of()
    taken(run, content(numbers(0, 10), "?cursor=ab+/c%3D%3D"))
    query: Query = (("cursor", "ab+/c%3D%3D"), ("$top", "10"))
    assert queries(run, 1) == [query]
    assert run.requests(1)[0].values.query == "color=red&cursor=ab+/c%3D%3D&$top=10"
