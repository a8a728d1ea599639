"""How a response becomes a page and the next request, without input and output.

The reasons, and what else was possible: docs/decisions/listings.md.

There are two cases for the next request. As long as each link leads where the page size puts the next page, the listing
is steady: later requests are known before their links, and may be sent at once. From the first other link on, links are
cursors: the next request is known when the page before has come, and each must be new.

There are four ends: no link (the listing is complete), the caller's limit, the service's cap (`truncated`), and a link
that cannot be followed (its error is kept in the state, and raised after the items before it were handed out).
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from itwin_platform_api.request import RequestValues

from .._errors import PagingError
from .._requests.sender import ResponseInfo
from .position import Listing, PageRequest, Position, next_request, write_resume

T = TypeVar("T")
#: A resume string, or what it is written of when somebody asks for it: a position, the name and the first request.
Resume = tuple[Position, str, RequestValues] | str | None

#: Stop after this many consecutive empty pages; otherwise a broken service could loop for ever.
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


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Page(Generic[T]):
    """One page of a listing.

    `resume` continues the listing after this page: pass it to the same call. It is None when nothing is left. `scene`
    is set in listings of scene objects. `response` describes the response: its headers, attempts and duration.
    """

    items: list[T]
    scene: SceneState | None
    response: ResponseInfo | None
    _resume: Resume

    def __init__(
        self, *, items: list[T], resume: Resume, scene: SceneState | None = None, response: ResponseInfo | None = None
    ) -> None:
        for name, value in (("items", items), ("scene", scene), ("response", response), ("_resume", resume)):
            object.__setattr__(self, name, value)

    @property
    def resume(self) -> str | None:
        """Where the listing continues after this page; None when nothing is left."""
        return write_resume(*self._resume) if isinstance(self._resume, tuple) else self._resume

    def __repr__(self) -> str:
        return f"Page({len(self.items)} items, {'the last' if self._resume is None else 'more follow'})"


class PageContent(NamedTuple, Generic[T]):
    """What a response holds: items, links as they came, X-Max-Return as echoed, the state of the scene."""

    items: list[T]
    links: object
    response: ResponseInfo
    max_return: int | None = None
    scene: SceneState | None = None


class State(NamedTuple, Generic[T]):
    """A listing after one of its pages, or before the first.

    Args:
        end: the position after the page.
        page: the page.
        start: the position before the page.
        indices: the index of each item of the page in the response: items that are done or known are not in the page.
        following: the next request; an error if the link cannot be followed, and None behind the last page.
        is_steady: whether each link led where the page size puts the next page; None before the first page.
        empty_pages: how many of the last pages were empty.
        pages_read, duplicates, max_return, truncated, is_partial, changed: as the attributes of `Pager`.
    """

    end: Position
    page: Page[T]
    following: PageRequest | PagingError | None
    start: Position = Position()
    indices: Sequence[int] = ()
    is_steady: bool | None = None
    empty_pages: int = 0
    pages_read: int = 0
    duplicates: int = 0
    max_return: int | None = None
    truncated: bool = False
    is_partial: bool = False
    changed: bool = False

    def position(self, listing: Listing, count: int) -> Position:
        """Return the position after the first items of the page."""
        items = self.page.items
        return self.end if count == len(items) else _after(listing, self.start, items[:count], self.indices)

    def requests(self, listing: Listing, count: int) -> list[PageRequest]:
        """Return the next requests in order, up to `count` of them as far as they are known."""
        size, remaining = listing.page_size or listing.most, _remaining(listing, self.end)
        if not isinstance(self.following, PageRequest) or remaining == 0:
            return []
        until_cap = None if self.max_return is None else self.max_return - listing.skip - self.end.received
        bounds = (remaining, until_cap, count * size if self.is_steady else size)
        pages = max(1, -(-min(bound for bound in bounds if bound is not None) // size))
        most = pages * size if remaining is None or listing.page_size else remaining
        first = self.following if self.following.top else self.following._replace(top=min(size, most))
        ahead = range(size, pages * size, size)
        return [first, *(PageRequest(skip=(first.skip or 0) + step, top=min(size, most - step)) for step in ahead)]


def after_page(
    listing: Listing, state: State[T], request: PageRequest, content: PageContent[T], seen: Set[str], followed: Set[int]
) -> State[T]:
    """Return a listing after the response to a request.

    Args:
        listing: the listing.
        state: the listing before the response.
        request: the request.
        content: the content of the response.
        seen: the ids of the items that came before.
        followed: the hashes of the requests that links led to before.
    """
    came, scene, before = content.items, content.scene, state.end.last_modified
    modified = scene.last_modified.isoformat() if scene and scene.last_modified else before
    changed = state.changed or (before is not None and modified != before)
    start = state.end._replace(request=request, last_modified=modified)
    indices: Sequence[int] = range(start.done, len(came))
    received, remaining = len(indices), _remaining(listing, start)
    if listing.time or changed:
        indices = _new(came, indices, seen)
    duplicates = state.duplicates + received - len(indices)
    is_complete = remaining is None or len(indices) <= remaining
    indices = indices[:remaining]
    items = came if len(indices) == len(came) else [came[index] for index in indices]
    end, following = _after(listing, start, items, indices), _following(listing, state, request, content, followed)
    if is_complete:
        at, done = (following, 0) if isinstance(following, PageRequest) else (request, len(came))
        end = end._replace(request=at, done=done, received=start.received + received)
    is_left = following is not None or not is_complete
    max_return = content.max_return or state.max_return or listing.max_return
    is_capped = max_return is not None and end.received >= max_return
    # It is unspecified whether the cap counts skipped items; assume it does and report truncation.
    may_be_cut_off = max_return is not None and end.received + listing.skip >= max_return
    # One link that is not as expected is read as a cursor: from then on links are followed one by one.
    expected = PageRequest(skip=(request.skip or 0) + (request.top or 0))
    resume = (end, listing.name, listing.first) if is_left else None
    return State(
        end=end,
        page=Page(items=items, resume=resume, scene=scene, response=content.response),
        following=None if is_capped or _remaining(listing, end) == 0 else following,
        start=start,
        indices=indices,
        is_steady=following == expected and state.is_steady is not False,
        empty_pages=0 if came else state.empty_pages + 1,
        pages_read=state.pages_read + 1,
        duplicates=duplicates,
        max_return=max_return,
        truncated=is_capped or (may_be_cut_off and not isinstance(following, PageRequest)),
        is_partial=state.is_partial or (scene is not None and scene.is_partial),
        changed=changed,
    )


def _after(listing: Listing, start: Position, items: Sequence[T], indices: Sequence[int]) -> Position:
    """Return the position after the first items of a page, whose indices in the response are known."""
    if not items:
        return start
    done = indices[len(items) - 1] + 1
    end = start._replace(done=done, items=start.items + len(items), received=start.received + done - start.done)
    return end._replace(range=start.range.after([*map(listing.moment, items)])) if listing.time else end


def _remaining(listing: Listing, at: Position) -> int | None:
    return None if listing.limit is None else max(0, listing.limit - at.items)


def _new(items: Sequence[T], indices: Sequence[int], seen: Set[str]) -> list[int]:
    """Return the indices of items whose ids come for the first time; an item without an id is always new."""
    first: dict[object, int] = {}
    for index in indices:
        identity = getattr(items[index], "id", None)
        first.setdefault(identity if isinstance(identity, str) else index, index)
    return [index for identity, index in first.items() if identity not in seen]


def _following(
    listing: Listing, state: State[T], request: PageRequest, content: PageContent[T], followed: Set[int]
) -> PageRequest | PagingError | None:
    """Return the request that the link of a page leads to; None if there is no link, and an error if it is unusable."""
    try:
        following, before = next_request(content.links, listing, current=request), state.end.request
    except PagingError as error:
        return error
    if following is None:
        return None
    # Only a page size that the service chose is kept. Where a run began, it may be that of an earlier run.
    is_chosen = before is not None and before.top is not None and state.is_steady is not None
    if following.top == request.top and not is_chosen:
        following = following._replace(top=None)
    if not content.items and state.empty_pages >= MOST_EMPTY:
        return PagingError(f"more than {MOST_EMPTY} pages in a row were empty, and each links to another one")
    # Offsets only grow, so each loop has a link without one.
    if following.skip is None and hash(following) in followed:
        return PagingError("the link to the next page leads to one that was read before")
    return following
