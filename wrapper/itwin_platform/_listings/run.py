"""A listing and one run through it, without input and output: what to request next, and what a response comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from itwin_platform_transport import PlatformError

from .._errors import PagingError
from .._requests.sender import ResponseInfo
from .position import SKIP, TOP, Listing, PageQuery, Position, count_of, next_query, parameters_of, write_resume

T = TypeVar("T")

CAP = "X-Max-Return"
#: So many pages without an item may follow each other: a service that sends more does not come to an end.
MOST_EMPTY = 10


class TruncatedWarning(UserWarning):
    """A listing is not complete: the service may have more items than it returned."""


# Source: section 4.6.
@dataclass(frozen=True, slots=True, kw_only=True)
class SceneState:
    """The state of a scene as a page of its objects reports it.

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


class PageContent(NamedTuple, Generic[T]):
    """What a response holds: items, links as they came, X-Max-Return as echoed, the state of the scene."""

    items: list[T]
    links: object
    max_return: int | None = None
    scene: SceneState | None = None


class Run(Generic[T]):
    """Takes the pages of one listing in order, and always knows where the listing continues.

    Its reasons, and what else was possible: docs/decisions/listings.md.

    A run is a position that only moves forward. `_before` is the position of the page that was taken last, `_end` the
    one after it, and `position` lies between both, after the item that was handed out last.

    There are two cases for the next request. As long as each link leads where the page size puts the next page, the run
    is steady: later queries are known before their links, and may be requested at once. From the first other link on,
    links are cursors: the next query is known when the page before has come, and each must be new.

    There are four ends: no link (the listing is complete), the caller's limit, the service's cap (`truncated`), and a
    link that cannot be followed (`problem`, which is raised after the items before it were handed out).

    Args:
        listing: what the caller asked for.
        start: where to begin.
    """

    problem: PagingError | None = None
    truncated: bool = False
    max_return: int | None = None
    is_partial: bool = False
    changed: bool = False
    duplicates: int = 0
    pages_read: int = 0
    #: Whether items that come again are dropped even if nothing has changed.
    distinct: bool = False

    def __init__(self, listing: Listing, start: Position) -> None:
        self._listing, self._before = listing, start
        #: The items of the page that was taken last, and for each how many items of the response are done after it.
        self._items: list[T] = []
        self._done_after: Sequence[int] = []
        #: How many of them the caller has.
        self.handed_out = 0
        self._seen: set[str] = set()
        self._ended = self._remaining(start) == 0
        self._begin(start, listing.carried)

    def _begin(self, start: Position, carried: str) -> None:
        """Begin at a position with a page that is requested alone, with these parameters beside those of the page."""
        #: The position after the page that was taken last.
        self._end = start
        #: True before the first page, and while pages are where the page size puts them: later ones are known then.
        self._is_first, self._is_steady = True, False
        self._carried, self._empty_pages = carried, 0
        self._followed: set[int] = set()

    @property
    def position(self) -> Position:
        """The position after the item that was handed out last."""
        return self._end if self.handed_out == len(self._items) else self._after(self.handed_out)

    def _after(self, count: int) -> Position:
        """Return the position after so many items of the page that was taken last."""
        before = self._before
        done = self._done_after[count - 1] if count else before.done
        return before._replace(done=done, items=before.items + count, received=before.received + done - before.done)

    def requests(self, count: int) -> list[str]:
        """Return the queries of the next requests in order, up to `count` of them as far as they are known."""
        if self._ended or self.problem is not None:
            return []
        return [self._encoded(query) for query in self._queries(count)]

    def _encoded(self, query: PageQuery) -> str:
        located = f"{TOP}={query.top}" if query.skip is None else f"{SKIP}={query.skip}&{TOP}={query.top}"
        return "&".join(filter(None, (self._carried, located, query.cursor)))

    def _queries(self, count: int) -> list[PageQuery]:
        query = self._end.query or PageQuery(skip=self._listing.skip or None)
        tops = self._page_sizes(count if self._is_steady else 1)
        skip, size = query.skip or 0, self._listing.page_size
        first = query if query.top is not None else query._replace(top=tops[0])
        return [first, *(PageQuery(skip=skip + size * step, top=top) for step, top in enumerate(tops[1:], 1))]

    def _page_sizes(self, count: int) -> list[int]:
        """Return the page sizes of the next requests, at least of one, and of others up to the limit and the cap."""
        size, remaining = self._listing.page_size, self._remaining(self._end)
        bounds = (remaining, self._until_cap(), count * size)
        pages = max(1, -(-min(bound for bound in bounds if bound is not None) // size))
        # Where the caller named no page size, the last page is as small as the limit leaves.
        most = pages * size if remaining is None or TOP in parameters_of(self._listing.first) else remaining
        return [min(size, most - step * size) for step in range(pages)]

    def recovers(self, error: PlatformError) -> bool:
        """Tell whether the run continues with another request after the first one failed."""
        del error
        return False

    def take(self, content: PageContent[T], *, response: ResponseInfo) -> Page[T]:
        """Take the content of the response to the first request, and return its page."""
        (query,) = self._queries(1)
        last_modified = self._note(content, self._end.last_modified)
        following = self._following(query, content.links)
        self._before = before = self._end._replace(query=query, last_modified=last_modified)
        remaining = self._remaining(before)
        self._drop_duplicates(content, start=before.done)
        is_complete = remaining is None or len(self._items) <= remaining
        self._items, self.handed_out = self._items[:remaining], 0
        self._end = self._after(len(self._items))
        if is_complete:
            received = before.received + max(0, len(content.items) - before.done)
            done = 0 if following else len(content.items)
            self._end = self._end._replace(query=following or query, done=done, received=received)
        is_left = self._finish(following, is_left=following is not None or not is_complete or self.problem is not None)
        return Page(
            items=self._items,
            resume=write_resume(self._end, self._listing) if is_left else None,
            scene=content.scene,
            response=response,
        )

    def _finish(self, following: PageQuery | None, *, is_left: bool) -> bool:
        """End the run where the limit or the cap is reached, or nothing is left; return whether anything is left."""
        until_cap = self._until_cap()
        capped = until_cap is not None and until_cap + self._listing.skip <= 0
        self.truncated = until_cap is not None and until_cap <= 0 and (following is None or capped)
        self._ended = self._remaining(self._end) == 0 or capped or not is_left
        if self._ended:
            self.problem = None
        return is_left

    def _remaining(self, at: Position) -> int | None:
        limit = self._listing.limit
        return None if limit is None else max(0, limit - at.items)

    def _until_cap(self) -> int | None:
        # The specification does not say whether the cap counts what is skipped: what may be cut off counts as cut off.
        return None if self.max_return is None else self.max_return - self._listing.skip - self._end.received

    def _note(self, content: PageContent[T], last_seen: str | None) -> str | None:
        """Note what a page reports, and return when the scene was last modified; None where this is unknown."""
        self.pages_read += 1
        self._empty_pages = 0 if content.items else self._empty_pages + 1
        self.max_return = content.max_return or self.max_return or count_of(self._listing.first.headers.get(CAP, ""))
        if content.scene is None:
            return last_seen
        self.is_partial = self.is_partial or content.scene.is_partial
        modified = content.scene.last_modified.isoformat() if content.scene.last_modified else last_seen
        self.changed = self.changed or (last_seen is not None and modified != last_seen)
        return modified

    def _drop_duplicates(self, content: PageContent[T], *, start: int) -> None:
        """Keep the items after the first ones; without those that came before, once a scene has changed."""
        items = content.items
        self._items, self._done_after = items[start:], range(start + 1, len(items) + 1)
        if content.scene is not None or self.distinct:
            kept = [index for index in range(start, len(items)) if self._is_kept(items[index])]
            self.duplicates += len(self._items) - len(kept)
            self._items, self._done_after = [items[index] for index in kept], [index + 1 for index in kept]

    def _is_kept(self, item: T) -> bool:
        identity = getattr(item, "id", None)
        if not isinstance(identity, str):
            return True
        is_kept = identity not in self._seen or not (self.changed or self.distinct)
        self._seen.add(identity)
        return is_kept

    def _following(self, current: PageQuery, links: object) -> PageQuery | None:
        """Return the query of the next page; None where there is none, or where `problem` tells why."""
        # Only a page size that the service chose is kept. Where a run began, it may be that of an earlier run.
        is_chosen = self._end.query is not None and self._end.query.top is not None and not self._is_first
        try:
            following = next_query(links, self._listing, current=current, size=None if is_chosen else current.top)
            if following is not None:
                self._check_end(following)
        except PagingError as error:
            self.problem = error
            return None
        # One link that is not as expected is read as a cursor: from then on links are followed one by one.
        expected = PageQuery(skip=(current.skip or 0) + (current.top or 0))
        self._is_steady = following == expected and (self._is_steady or self._is_first)
        self._is_first = False
        return following

    def _check_end(self, following: PageQuery) -> None:
        """Reject a query with which the listing would not come to an end."""
        if self._empty_pages > MOST_EMPTY:
            raise PagingError(f"{self._empty_pages} pages in a row were empty, and each links to another one")
        if following.skip is None:
            # Offsets only grow, so each loop has a link without one: only these are kept, as hashes, which are short.
            if hash(following) in self._followed:
                raise PagingError("the link to the next page leads to one that was read before")
            self._followed.add(hash(following))
        elif self.max_return is not None and following.skip > self._listing.skip + self.max_return:
            raise PagingError(f"the link to the next page leads past max_return={self.max_return}, the last item")
