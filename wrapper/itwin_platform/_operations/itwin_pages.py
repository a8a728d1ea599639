"""Listings of iTwins, and how a page of them is read. Source: sections 2.10 and 4.3."""

from collections.abc import Callable, Mapping
from functools import partial

from .._api import ITwin, RequestValues, list_itwins
from .._errors import UsageError
from .._listings.limits import ITWINS_PER_PAGE
from .._listings.links import count_of, keyword_names, link_of
from .._listings.list_all import TimeRangeRun
from .._listings.page import Listing, Page, PageContent, page_size_for, with_lower_cap
from .._listings.pager import Pager
from .._listings.resume import fingerprint
from .._listings.time_ranges import TIMES
from .._transports.decoding.typed_pages import read_typed
from .._transports.platform import Response, unwrap
from .group import Connection
from .rules import ITWIN_QUERY

#: The query parameters that a continuation never changes.
ITWIN_KEYWORDS = keyword_names(*ITWIN_QUERY.values())


def read_itwin_page(response: Response) -> PageContent[ITwin]:
    """Decode a response to list iTwins."""
    parsed = read_typed(response.content) or list_itwins.parse_response(response)
    return PageContent(
        items=unwrap(response, parsed.itwins, list),
        next_href=link_of(parsed.links, "next_"),
        max_return=count_of(response.headers.get("x-max-return", "")),
    )


def itwin_pager(
    first: RequestValues,
    *,
    connection: Connection,
    keywords: Mapping[str, object],
    page_size: int | None,
    skip: int,
    limit: int | None,
    concurrency: int,
    eager: bool,
    resume: str | None,
    on_page: Callable[[Page[ITwin]], None] | None,
) -> Pager[ITwin]:
    """Return the pager of a listing. `keywords` are all that the caller asked for: a `resume` must be of the same."""
    listing: Listing[ITwin] = Listing(
        first=first,
        address=f"{connection.address}{first.path}",
        name=fingerprint("list_itwins", keywords),
        keywords=ITWIN_KEYWORDS,
        page_size=page_size_for(page_size, limit=limit, most=ITWINS_PER_PAGE),
        shrinks=page_size is None,
        skip=skip,
        limit=limit,
        concurrency=concurrency,
        eager=eager,
        resume=resume,
        on_page=on_page,
        alternative=with_lower_cap,
    )
    return Pager(listing, send=connection.send, read=read_itwin_page)


def check_partition(partition_by: object) -> None:
    """Check that a listing is partitioned by one of the times of an iTwin."""
    if partition_by not in TIMES:
        raise UsageError(f"partition_by must be one of the times of an iTwin: {' or '.join(TIMES)}")


def time_range_pager(
    first: RequestValues,
    *,
    connection: Connection,
    keywords: Mapping[str, object],
    time: str,
    within: str | None,
    page_size: int | None,
    limit: int | None,
    concurrency: int,
    resume: str | None,
    on_page: Callable[[Page[ITwin]], None] | None,
) -> Pager[ITwin]:
    """Return the pager of a listing beyond the cap, partitioned by ranges of `time` within a filter."""
    listing: Listing[ITwin] = Listing(
        first=first,
        address=f"{connection.address}{first.path}",
        name=fingerprint("list_all_itwins", keywords),
        keywords=ITWIN_KEYWORDS,
        page_size=page_size_for(page_size, limit=limit, most=ITWINS_PER_PAGE),
        shrinks=page_size is None,
        limit=limit,
        concurrency=concurrency,
        resume=resume,
        on_page=on_page,
        identity=lambda itwin: getattr(itwin, "id", None),
        alternative=with_lower_cap,
    )
    begin = partial(TimeRangeRun, time=time, within=within)
    return Pager(listing, send=connection.send, read=read_itwin_page, begin=begin)
