"""The values that listings are made of: a page as users see it, an answer as it came, a listing as it is asked for."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from .._errors import UsageError
from .links import Query

T = TypeVar("T")

#: The most iTwins of one listing, and of one page. Source: sections 4.3 and 8.
MOST_RETURNED, ITWINS_PER_PAGE = 10_000, 1000


class TruncatedWarning(UserWarning):
    """A listing that was read into one list is not complete: there may be items that were not returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneState:
    """What a page of scene objects says of its scene. Source: section 4.6.

    `is_partial` is True when objects are withheld because of insufficient permissions.
    """

    display_name: str | None
    last_modified: datetime | None
    is_partial: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Page(Generic[T]):
    """One page of a listing.

    `resume` is where the listing goes on after it: give it to the same call; None when nothing is left. `scene` is
    there in listings of scene objects.
    """

    items: list[T]
    resume: str | None
    scene: SceneState | None = None

    def __repr__(self) -> str:
        return f"Page({len(self.items)} items, {'the last' if self.resume is None else 'more follow'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page is asked for: its query, None for the first one.

    `arrived` is awaited when its answer has come, and returns when it is to be decoded.
    """

    query: Query | None
    arrived: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """What one request of a listing brought: items, the `next` link as it came, and where it was asked for."""

    items: list[T]
    next_href: object
    address: str
    query: Query
    max_return: int | None = None
    scene: SceneState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """What a pager reads: how a page is fetched, and the caller's numbers."""

    fetch: Callable[[Place], Coroutine[object, object, Answer[T]]]
    name: str
    page_size: int
    skip: int = 0
    limit: int | None = None
    concurrency: int = 1
    resume: str | None = None
    identity: Callable[[T], object] | None = None
    on_page: Callable[["Page[T]"], None] | None = None


def check_integer(name: str, value: object, *, least: int, most: int | None, code: str | None, target: str) -> None:
    """A whole number in a range."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"from {least} to {most}" if most is not None else f"of {least} or more"
        raise UsageError(f"{name} must be an integer {allowed}", code=code, target=target)
