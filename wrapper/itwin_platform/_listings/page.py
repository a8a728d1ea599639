"""The values of a listing: what the caller asked for, how a page is requested, what it holds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from .._api import RequestValues
from .._errors import PagingError, PlatformError
from .._requests.response_info import ResponseInfo
from .links import Query, page_values
from .resume import Position

T = TypeVar("T")

CAP = "X-Max-Return"


class TruncatedWarning(UserWarning):
    """A listing is not complete: the service may have more items than it returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneState:
    """The state of a scene as a page of its objects reports it. Source: section 4.6.

    `is_partial` is True when objects are withheld because of insufficient permissions.
    """

    display_name: str | None
    last_modified: datetime | None
    is_partial: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Page(Generic[T]):
    """One page of a listing.

    `resume` continues the listing after this page: pass it to the same call. It is None when nothing is left. `scene`
    is set in listings of scene objects. `response` describes the response: its headers, attempts and duration.
    """

    items: list[T]
    resume: str | None
    scene: SceneState | None = None
    response: ResponseInfo | None = None

    def __repr__(self) -> str:
        return f"Page({len(self.items)} items, {'the last' if self.resume is None else 'more follow'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The request of one page: that of the first page, with the query that locates this one in the listing."""

    first: RequestValues
    query: Query

    @property
    def values(self) -> RequestValues:
        """What is sent."""
        return page_values(self.first, self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent(Generic[T]):
    """What a response holds: items, the `next` link as it came, X-Max-Return as echoed, the state of the scene."""

    items: list[T]
    next_href: object
    max_return: int | None = None
    scene: SceneState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """What a pager reads.

    Args:
        first: the request as the operation built it; a page is this request with the query that locates the page.
        address: the URL of the listing without a query, to which links are compared.
        name: the operation and a digest of its first request, which a `resume` must carry as well.
        keywords: the query parameters that no link can change, as `keyword_names` returns them.
        page_size: items of one request.
        shrinks: True requests only as many items as `limit` leaves.
        skip, limit, concurrency, eager, resume, on_page: as the caller gave them.
        expected: how many items there are, where this is known.
        identity: the id of an item, by which items that come twice are dropped once the scene has changed.
        alternative: the first request to send instead after an error, None when there is none.
    """

    first: RequestValues
    address: str
    name: str
    page_size: int
    keywords: frozenset[str] = frozenset()
    shrinks: bool = False
    skip: int = 0
    limit: int | None = None
    concurrency: int = 1
    eager: bool = False
    resume: str | None = None
    on_page: Callable[[Page[T]], None] | None = None
    expected: int | None = None
    identity: Callable[[T], object] | None = None
    alternative: Callable[[PlatformError, RequestValues], RequestValues | None] | None = None


class Run(Protocol[T]):
    """What a pager asks of a run: `requests`, `take` with the content of the first one, `hand_out`, and so on."""

    problem: PagingError | None = None
    truncated: bool = False
    max_return: int | None = None
    is_partial: bool = False
    changed: bool = False
    duplicates: int = 0
    pages_read: int = 0

    @property
    def items_read(self) -> int:
        """Items handed out in this run."""
        ...

    @property
    def position(self) -> Position:
        """The position after the item that was handed out last."""
        ...

    def requests(self, count: int) -> list[PageRequest]:
        """Return the next requests in order, up to `count` of them as far as they are known."""
        ...

    def take(self, request: PageRequest, content: PageContent[T]) -> Page[T] | None:
        """Take the content of the first request, and return its page; None when it was a probe."""
        ...

    def hand_out(self, count: int) -> None:
        """Count items of the page that was taken last as handed out."""

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues after the first request failed, with other requests."""
        ...
