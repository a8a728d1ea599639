"""A listing and one run through it, without input and output: what to request next, and what a response comes to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from .._api import RequestValues
from .._errors import PagingError, PlatformError
from .._requests.response import ResponseInfo
from .links import SKIP, TOP, Query, count_of, next_query, page_values, skip_of
from .resume import Position, write_resume

T = TypeVar("T")

CAP = "X-Max-Return"
#: So many pages without an item may follow each other: a service that sends more does not come to an end.
MOST_EMPTY = 10


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
        skip, limit, concurrency, resume, on_page: as the caller gave them.
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
    resume: str | None = None
    on_page: Callable[[Page[T]], None] | None = None
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

    def take(self, request: PageRequest, content: PageContent[T]) -> Page[T]:
        """Take the content of the first request, and return its page."""
        ...

    def hand_out(self, count: int) -> None:
        """Count items of the page that was taken last as handed out."""

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues after the first request failed, with other requests."""
        ...


class ListingRun(Run[T]):
    """Takes the pages of one listing in order, and always knows where the listing continues.

    Args:
        listing: what the caller asked for.
        start: where to begin.
        seen: the ids that came before, where the caller keeps them: then every item that comes again is dropped.

    `end` is the position after the page that was taken last. `steady` is True while pages are where the page size puts
    them, so that later ones can be requested as well.
    """

    def __init__(self, listing: Listing[T], start: Position, *, seen: set[str] | None = None) -> None:
        self._listing = listing
        self._start = self._before = self.end = start
        #: For each item of the page that was taken last, how many items of the response are done after it.
        self._done_after: Sequence[int] = ()
        self._handed_out = 0
        self._followed: set[int] = set()
        self._empty_pages = 0
        self.steady = False
        self._ended = self._remaining(start) == 0
        self._seen: set[str] = set() if seen is None else seen
        self._distinct = seen is not None
        self.first = listing.first

    @property
    def ended(self) -> bool:
        """True when nothing more is to be requested."""
        return self._ended or self.problem is not None

    @property
    def waiting(self) -> int:
        """How many items of the page that was taken last have not been handed out."""
        return len(self._done_after) - self._handed_out

    @property
    def position(self) -> Position:
        """The position after the item that was handed out last."""
        if not self.waiting:
            return self.end
        done = self._done_after[self._handed_out - 1] if self._handed_out else self._before.done
        return replace(self._before, done=done, items=self._before.items + self._handed_out)

    @property
    def items_read(self) -> int:
        """Items handed out in this run."""
        return self.position.items - self._start.items

    def hand_out(self, count: int) -> None:
        """Count items of the page that was taken last as handed out."""
        self._handed_out += count

    def requests(self, count: int) -> list[PageRequest]:
        """Return the next requests in order, up to `count` of them as far as they are known."""
        if self.ended or count < 1:
            return []
        query = self.end.query
        if not self.steady:
            return [self._request(query, self._size(0))]
        skip = self._listing.skip if query is None else skip_of(query) or 0
        size, known = self._listing.page_size, self._known_items()
        pages = count if known is None else min(count, max(1, -(-known // size)))
        ahead = [self._request(((SKIP, str(skip + size * step)),), self._size(step)) for step in range(1, pages)]
        return [self._request(query, self._size(0)), *ahead]

    def _request(self, query: Query | None, size: int) -> PageRequest:
        """Return a request; `size` is the page size where the query names none."""
        if query is None:
            query = ((SKIP, str(self._listing.skip)),) if self._listing.skip else ()
        if TOP not in dict(query):
            query = (*query, (TOP, str(size)))
        return PageRequest(first=self.first, query=query)

    def _size(self, step: int) -> int:
        """Return the page size of a page ahead: fewer where `limit` leaves fewer."""
        size, remaining = self._listing.page_size, self._remaining(self.end)
        if remaining is None or not self._listing.shrinks:
            return size
        return min(size, remaining - step * size)

    def _known_items(self) -> int | None:
        """Return how many items there are at most; None when nothing is known."""
        bounds = (self._remaining(self.end), self._until_cap(self.end))
        return min((bound for bound in bounds if bound is not None), default=None)

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues with another first request. This happens once, before the first page."""
        if self._listing.alternative is None or self.pages_read or self.first != self._listing.first:
            return False
        alternative = self._listing.alternative(error, self.first)
        self.first = alternative or self.first
        return alternative is not None

    def take(self, request: PageRequest, content: PageContent[T]) -> Page[T]:
        """Take the content of the first request, and return its page."""
        self._before = before = replace(
            self.end, query=request.query, last_modified=self._note(content, self.end.last_modified)
        )
        remaining = self._remaining(before)
        self._empty_pages = 0 if content.items else self._empty_pages + 1
        items, done_after = self._without_duplicates(content.items, start=before.done)
        complete = remaining is None or len(items) <= remaining
        items, self._done_after, self._handed_out = items[:remaining], done_after[:remaining], 0
        following = self._following(request.query, content.next_href)
        continues = following if complete else None
        self.end = end = replace(
            before,
            query=continues or request.query,
            done=0 if continues else len(content.items) if complete else self._done_after[-1],
            items=before.items + len(items),
        )
        left = not complete or following is not None or self.problem is not None
        self._stop(following, left=left)
        return Page(
            items=items,
            resume=write_resume(end, listing=self._listing.name) if left else None,
            scene=content.scene,
        )

    def _stop(self, following: Query | None, *, left: bool) -> None:
        """End the run where the limit or the cap is reached, or nothing is left."""
        until_cap = self._until_cap(self.end)
        capped = self.max_return is not None and self._received(self.end) >= self.max_return
        self.truncated = until_cap is not None and until_cap <= 0 and (following is None or capped)
        self._ended = self._remaining(self.end) == 0 or capped or not left
        if self._ended:
            self.problem = None

    def _remaining(self, at: Position) -> int | None:
        limit = self._listing.limit
        return None if limit is None else max(0, limit - at.earlier - at.items)

    def _until_cap(self, at: Position) -> int | None:
        # The specification does not say whether the cap counts what is skipped: what may be cut off counts as cut off.
        cap = self.max_return if self.pages_read else _requested_cap(self.first.headers)
        return None if cap is None else cap - self._listing.skip - self._received(at)

    def _received(self, at: Position) -> int:
        return at.items + self.duplicates

    def _note(self, content: PageContent[T], last_seen: str | None) -> str | None:
        """Note what a page reports, and return when the scene was last modified; None where this is unknown."""
        self.pages_read += 1
        self.max_return = content.max_return or self.max_return or _requested_cap(self.first.headers)
        if content.scene is None:
            return last_seen
        self.is_partial = self.is_partial or content.scene.is_partial
        reported = content.scene.last_modified
        modified = reported.isoformat() if isinstance(reported, datetime) else last_seen
        self.changed = self.changed or (last_seen is not None and modified != last_seen)
        return modified

    def _without_duplicates(self, items: list[T], *, start: int) -> tuple[list[T], Sequence[int]]:
        """Return the items after the first ones, and for each how many of all are done after it."""
        identity, fresh, done_after = self._listing.identity, items[start:], range(start + 1, len(items) + 1)
        if identity is None:
            return fresh, done_after
        repeated = self._repeated([identity(item) for item in fresh])
        if not repeated:
            return fresh, done_after
        self.duplicates += len(repeated)
        kept = [index for index in range(len(fresh)) if index not in repeated]
        return [fresh[index] for index in kept], [done_after[index] for index in kept]

    def _repeated(self, ids: list[object]) -> set[int]:
        """Note ids, and return the indices of those that came before and are to be dropped."""
        repeated: set[int] = set()
        if not (self.changed or self._distinct):
            self._seen.update(each for each in ids if isinstance(each, str))
            return repeated
        for index, each in enumerate(ids):
            if not isinstance(each, str):
                continue
            if each in self._seen:
                repeated.add(index)
            else:
                self._seen.add(each)
        return repeated

    def _endless(self, following: Query) -> PagingError | None:
        """Return why a listing that continues with this query would not come to an end; None when it would."""
        skip = skip_of(following)
        if self._empty_pages > MOST_EMPTY:
            return PagingError(f"{self._empty_pages} pages in a row were empty, and each links to another one")
        if self.max_return is not None and (skip or 0) > self._listing.skip + self.max_return:
            return PagingError(
                f"the link to the next page leads past max_return={self.max_return}, where there are no more items"
            )
        if skip is None:
            # Offsets only grow, so each loop has a link without one: only these are kept, as hashes, which are short.
            if hash(following) in self._followed:
                return PagingError("the link to the next page leads to one that was read before")
            self._followed.add(hash(following))
        return None

    def _following(self, current: Query, href: object) -> Query | None:
        """Return the query of the next page; None where there is none, or where `problem` tells why."""
        listing = self._listing
        # The page size that the link to this page had. Where a run began, it may be that of an earlier run.
        linked = dict(self.end.query or ()).get(TOP) if self.pages_read > 1 else None
        chosen = linked not in (None, str(listing.page_size))
        try:
            following = next_query(
                href, address=listing.address, current=current, keywords=listing.keywords, keeps_size=chosen
            )
        except PagingError as error:
            self.problem = error
            return None
        if following is not None and (endless := self._endless(following)) is not None:
            self.problem = endless
            return None
        # One link that is not as expected is read as a cursor: from then on links are followed one by one.
        self.steady = following == _after(current) and (self.steady or self.pages_read == 1)
        return following


def _after(query: Query) -> Query:
    """Return the query of the next page where the service pages by offset, in pages of the size that was requested."""
    return ((SKIP, str((skip_of(query) or 0) + (count_of(dict(query).get(TOP, "")) or 0))),)


def _requested_cap(headers: Mapping[str, str]) -> int | None:
    return count_of(headers.get(CAP, ""))
