"""Listings of iTwins, and how a page of them is read. Source: sections 2.10 and 4.3."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .._api import ITwin, RequestValues, list_itwins
from .._errors import ErrorDetail, PlatformError, UnprocessableError, UsageError
from .._http.connections.lazy import Response
from .._listings.limits import ITWINS_PER_PAGE, MOST_RETURNED
from .._listings.links import count_of, keyword_names, next_href
from .._listings.list_all import TimeRangeRun
from .._listings.page import CAP, Listing, Page, PageContent, Run
from .._listings.pager import Pager
from .._listings.resume import Position, listing_name
from .._listings.run import ListingRun
from .._listings.time_ranges import TIMES
from .._requests.platform import PlatformSender, unwrap
from .._requests.typed_pages import read_typed_itwins
from .rules import ITWIN_QUERY

#: The query parameters that a continuation never changes.
ITWIN_KEYWORDS = keyword_names(*ITWIN_QUERY.values())

BeginRun = Callable[[Listing[ITwin], Position], Run[ITwin]]


def read_itwin_page(response: Response) -> PageContent[ITwin]:
    """Decode a response to list iTwins."""
    parsed = read_typed_itwins(response.content) or list_itwins.parse_response(response)
    return PageContent(
        items=unwrap(response, parsed.itwins, list),
        next_href=next_href(parsed.links),
        max_return=count_of(response.headers.get("x-max-return", "")),
    )


def itwin_pager(
    first: RequestValues,
    *,
    name: str,
    sender: PlatformSender,
    page_size: int | None,
    limit: int | None,
    concurrency: int,
    resume: str | None,
    on_page: Callable[[Page[ITwin]], None] | None,
    skip: int = 0,
    eager: bool = False,
    begin: BeginRun = ListingRun,
) -> Pager[ITwin]:
    """Return the pager of a listing of iTwins, whose first request this is."""
    listing: Listing[ITwin] = Listing(
        first=first,
        address=f"{sender.service.address}{first.path}",
        name=listing_name(name, first),
        keywords=ITWIN_KEYWORDS,
        page_size=ITWINS_PER_PAGE if page_size is None else page_size,
        shrinks=page_size is None,
        skip=skip,
        limit=limit,
        concurrency=concurrency,
        eager=eager,
        resume=resume,
        on_page=on_page,
        identity=None if begin is ListingRun else lambda itwin: getattr(itwin, "id", None),
        alternative=with_lower_cap,
    )
    return Pager(listing, send=sender.send, read=read_itwin_page, begin=begin)


def by_time(partition_by: str, *, within: str | None) -> BeginRun:
    """Return what begins a run that is partitioned by one of the times of an iTwin, within a filter."""
    if partition_by not in TIMES:
        raise UsageError(f"partition_by must be one of the times of an iTwin: {' or '.join(TIMES)}")
    return partial(TimeRangeRun, time=partition_by, within=within)


def with_lower_cap(error: PlatformError, first: RequestValues) -> RequestValues | None:
    """Return the request to send instead when the service rejects a cap of 10000: one of its messages says "below"."""
    # The code is documented as one of a detail; an error that has it itself says the same.
    entries: tuple[UnprocessableError | ErrorDetail, ...] = ()
    if isinstance(error, UnprocessableError):
        entries = (error, *error.details)
    named = {(entry.target or "").lower() for entry in entries if entry.code == "InvalidHeaderValue"}
    if first.headers.get(CAP) != str(MOST_RETURNED) or not named & {"", CAP.lower()}:
        return None
    return replace(first, headers={**first.headers, CAP: str(MOST_RETURNED - 1)})
