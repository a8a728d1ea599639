"""Runs, and page contents to give them, for what is decided without a network."""

from dataclasses import replace
from datetime import datetime

from itwin_platform import Page, SceneState
from itwin_platform._listings.links import Query, skip_of
from itwin_platform._listings.resume import Position
from itwin_platform._listings.run import Listing, ListingRun, PageContent

from tests.support.numbered_items import NumberedItems


def run_of(  # the numbers of a caller, and where the run begins
    *,
    page_size: int = 10,
    skip: int = 0,
    limit: int | None = None,
    shrinks: bool = False,
    start: Position | None = None,
) -> ListingRun[str]:
    """Begin a run in which items are known by their text."""
    items = NumberedItems(total=0, page_size=page_size)
    listing: Listing[str] = items.listing(skip=skip, limit=limit, shrinks=shrinks)
    return ListingRun(replace(listing, identity=lambda item: item), start or Position())


def content(
    items: list[str], href: object = None, *, cap: int | None = None, **scene: datetime | bool
) -> PageContent[str]:
    """The content of a page."""
    modified, partial = scene.get("modified"), scene.get("partial") is True
    state = SceneState(
        display_name="s", last_modified=modified if isinstance(modified, datetime) else None, is_partial=partial
    )
    return PageContent(items=items, next_href=href, max_return=cap, scene=state if scene else None)


def numbers(first: int, behind: int) -> list[str]:
    """Items from one number up to another."""
    return [str(number) for number in range(first, behind)]


def taken(run: ListingRun[str], given: PageContent[str]) -> Page[str]:
    """Take the content of the page that comes next, and hand all of it out."""
    page = run.take(run.requests(1)[0], given)
    run.hand_out(len(page.items))
    return page


def queries(run: ListingRun[str], count: int) -> list[Query]:
    """The queries of the requests that come next."""
    return [request.query for request in run.requests(count)]


def offsets(run: ListingRun[str], count: int) -> list[int | None]:
    """The offsets of the requests that come next."""
    return [skip_of(query) for query in queries(run, count)]
