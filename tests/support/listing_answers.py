"""Runs, and answers to give them, for what is decided without a network."""

from dataclasses import replace
from datetime import datetime

from itwin_platform import Page, SceneState
from itwin_platform._listings.links import Query, page_of
from itwin_platform._listings.page import Answer, Listing
from itwin_platform._listings.resume import Position
from itwin_platform._listings.run import ListingRun

from tests.support.numbered_items import ADDRESS, NumberedItems


def run_of(  # the numbers of a caller, and where the run begins
    *, page_size: int = 10, skip: int = 0, limit: int | None = None, start: Position | None = None
) -> ListingRun[str]:
    """Begins a run in which items are known by their text."""
    items = NumberedItems(total=0, page_size=page_size)
    listing: Listing[str] = replace(items.listing(skip=skip, limit=limit), identity=lambda item: item)
    return ListingRun(listing, start or Position())


def answer(
    items: list[str],
    href: object = None,
    *,
    query: Query | None = None,
    cap: int | None = None,
    **scene: datetime | bool,
) -> Answer[str]:
    """An answer, by default to the first request."""
    modified, partial = scene.get("modified"), scene.get("partial") is True
    state = SceneState(
        display_name="s", last_modified=modified if isinstance(modified, datetime) else None, is_partial=partial
    )
    return Answer(
        items=items,
        next_href=href,
        address=ADDRESS,
        query=query or page_of(skip=0, page_size=10),
        max_return=cap,
        scene=state if scene else None,
    )


def numbers(first: int, behind: int) -> list[str]:
    """Items from one number up to another."""
    return [str(number) for number in range(first, behind)]


def taken(run: ListingRun[str], given: Answer[str]) -> Page[str]:
    """Takes an answer and hands all of its page out."""
    page = run.take(given)
    run.hand_out(len(page.items))
    return page
