"""How a response becomes a page and the next request, without input and output. Source: sections 2.10, 4.3 and 4.6.

The reasons and the alternatives: docs/decisions/listings.md.

There are two cases for the next request. As long as each link leads where the page size puts the next page, the listing
is steady: later requests are known before their links, and may be sent at once. From the first other link on, links are
cursors: the next request is known when the page before has come, and each must be new.

A listing has four ends: no link (it is complete), the caller's limit, the service's cap (`truncated`), and a link that
cannot be followed (the state keeps its error, which is raised after the items before it were handed out).

Neither a link nor a resume string is trusted. A link is only read for its query, never sent to. The resume string is
opaque and versioned, without host, token or keyword. Neither changes a keyword of the call, and a listing advances or
ends.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from posixpath import normpath
from typing import Annotated, Generic, NamedTuple, TypeVar, cast
from urllib.parse import quote, unquote, unquote_plus, urljoin, urlsplit

from itwin_platform_api.request import RequestValues
from itwin_platform_api.types import UNSET
from itwin_platform_transport import UsageError, check_integer
from msgspec import Meta
from msgspec.json import decode, encode

from .._errors import PagingError
from .._names import CORRELATION_ID
from .._requests.request import check_characters
from .._requests.sender import DecodedResponse, PlatformSender, ResponseInfo

T = TypeVar("T")

SKIP, TOP = "$skip", "$top"
#: Query options of OData, without `$` and in lower case. No link may change them, in any listing.
_ODATA_OPTIONS = frozenset({"apply", "compute", "count", "expand", "filter", "format", "orderby", "search", "select"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: The times of an iTwin that can partition a listing, with their attributes. Source: section 2.5.
TIMES = {"createdDateTime": "created_date_time", "lastModifiedDateTime": "last_modified_date_time"}
#: The version of the format of resume strings. It is part of the identity of a listing, so other versions are rejected.
_FORMAT = 5
#: Characters of a cursor that are not escaped in a query.
_SAFE = "!$%&'()*+,-./:=?@[\\]^_`{|}~"
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
#: Stop after this many consecutive empty pages; otherwise a broken service could loop for ever.
MOST_EMPTY = 10

Count = Annotated[int, Meta(ge=0)]
#: A time in UTC in the form of a filter. All have the same length, so they sort as strings.
Moment = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")]


class PageRequest(NamedTuple):
    """A request for a page, by the parameters that locate the page in its listing.

    Args:
        skip, top: `$skip` and `$top`; None if the request omits them.
        cursor: all other parameters, encoded as in the link: a service may read a cursor that was decoded and encoded
            again as another one. Only characters that a URL cannot contain are escaped.
    """

    skip: Count | None = None
    top: Count | None = None
    cursor: str = ""

    def query(self, keywords: str) -> str:
        """Return the query of a request, encoded, with the encoded parameters that are the same for each page."""
        numbers = f"{TOP}={self.top}" if self.skip is None else f"{SKIP}={self.skip}&{TOP}={self.top}"
        return "&".join(filter(None, (keywords, numbers, self.cursor)))


class TimeRange(NamedTuple):
    """The iTwins with a time from `since` on and before `until`.

    Args:
        since, until: the bounds; None for no bound.
        timeless: whether iTwins without a time have not been read yet. A range without `until` includes them.
        reached: the time of the last item that was handed out; None if it has none.
        ties: the number of last items with this time, those of earlier ranges included.
    """

    since: Moment | None = None
    until: Moment | None = None
    timeless: bool = True
    reached: Moment | None = None
    ties: Count = 0

    def after(self, moments: Sequence[Moment | None]) -> "TimeRange":
        """Return the range after items with these times were handed out."""
        ties = next((ties for ties, moment in enumerate(reversed(moments)) if moment != moments[-1]), len(moments))
        if ties == len(moments) and moments[-1] == self.reached:
            ties += self.ties
        # If the first items of the listing have no time, none without a time follow at its end.
        is_first = self.since is None and self.ties == 0
        timeless = self.timeless and not (is_first and moments[0] is None)
        return self._replace(reached=moments[-1], ties=ties, timeless=timeless)


class Position(NamedTuple):
    """A position in a listing: a page, the items of it that are done, and the counts until there.

    Args:
        request: the request for the page; None for the first one.
        done: items of the page that have been handed out, or dropped.
        items: items handed out in all.
        received: items handed out or dropped, which count for X-Max-Return. `list_all` counts them for each range.
        last_modified: the last modification of the scene in the last response; None for iTwins.
        range: the range of time that `list_all` reads; everything in other listings.
    """

    request: PageRequest | None = None
    done: Count = 0
    items: Count = 0
    received: Count = 0
    last_modified: str | None = None
    range: TimeRange = TimeRange()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A listing, as its call asks for it.

    Args:
        name: the operation, which a `resume` must carry as well.
        first: the first request as the operation built it; a page is this request with another query.
        sender: sends the requests.
        parameters: the query parameters of the operation, which neither links nor resume strings may use.
        most: the most items of one request.
        page_size: items of one request; None for `most`, or for the rest of `limit` if that is smaller.
        skip: items that the caller skips.
        limit: items that the caller wants in total.
        concurrency: the most requests in flight.
        max_return: the most items that the service returns in total, unless its response names another number.
        time: the property that partitions the listing into ranges; empty for no ranges.

    Two attributes are derived. `keywords` are the parameters of each page without those that locate it. `identity` is a
    short name for the listing: its operation, and a digest of the format of resume strings and of the first request.

    Raises:
        UsageError: a number is not an integer or too small, or a parameter cannot be encoded.
    """

    name: str
    first: RequestValues
    sender: PlatformSender
    parameters: frozenset[str]
    most: int
    page_size: int | None
    skip: int = 0
    limit: int | None
    concurrency: int
    max_return: int | None = None
    time: str = ""
    keywords: Mapping[str, str] = field(init=False)
    identity: str = field(init=False)

    def __post_init__(self) -> None:
        first, derive = self.first, partial(object.__setattr__, self)
        query = cast("Mapping[str, str]", first.query)  # as `build_request` makes it
        check_characters("", *query.values())
        if (TOP in query and self.page_size is None) or (SKIP in query and self.skip == 0):
            message = f"extra_query must not contain {TOP} or {SKIP}: pass page_size and skip"
            raise UsageError(message, argument="extra_query")
        derive("keywords", {name: query[name] for name in query if name not in (SKIP, TOP)})
        derive("parameters", _ODATA_OPTIONS.union(map(_comparable, {*self.parameters, *query} - {SKIP, TOP})))
        derive("concurrency", check_integer("concurrency", self.concurrency, least=1))
        for name, least in (("limit", 0), ("page_size", 1), ("skip", None), ("max_return", None)):
            value = getattr(self, name)
            derive(name, None if value is None else check_integer(name, value, least=least))
        # A run that continues may have another correlation id.
        headers = {name: value for name, value in first.headers.items() if name.lower() != CORRELATION_ID}
        digest = hashlib.sha256(encode([_FORMAT, first.path, query, headers], order="sorted")).hexdigest()
        derive("identity", f"{self.name}:{digest[:16]}")

    def moment(self, item: object) -> Moment | None:
        """Return the time of an item by which the listing is partitioned."""
        return as_moment(getattr(item, TIMES[self.time]))

    def remaining(self, at: Position) -> int | None:
        """Return how many items are wanted after a position; None for all there are."""
        return None if self.limit is None else max(0, self.limit - at.items)

    def write_resume(self, position: Position) -> str:
        """Serialize a position."""
        return base64.urlsafe_b64encode(encode((self.identity, position))).decode().rstrip("=")

    def read_resume(self, text: object) -> Position:
        """Deserialize a position.

        Raises:
            UsageError: the string was not written by `write_resume`, or belongs to another listing.
        """
        try:
            raw = base64.b64decode(f"{text}{'=' * (-len(str(text)) % 4)}", altchars=b"-_", validate=True)
            identity, position = decode(raw, type=tuple[str, Position])
            cursor = (position.request or PageRequest()).cursor
            if _page_request(cursor, self) != PageRequest(cursor=cursor):
                raise ValueError  # noqa: TRY301  # handled as every other fault of the string
        except (ValueError, RecursionError, PagingError):
            message = "resume is not a string that this client returned: pass it unchanged, or start the listing anew"
            raise UsageError(message, argument="resume") from None
        if identity != self.identity:
            found = f"{identity.partition(':')[0]}, or other keywords"
            message = f"resume belongs to another listing ({found}): pass the keywords and extra_query of the first run"
            raise UsageError(f"{message}; limit, concurrency, on_page and other options may differ", argument="resume")
        return position


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
    """A response and its content: items, links as received, the echoed X-Max-Return, the state of the scene."""

    items: list[T]
    links: object
    response: DecodedResponse
    max_return: int | None = None
    scene: SceneState | None = None


class State(NamedTuple, Generic[T]):
    """A listing after one of its pages, or before the first.

    Args:
        end: the position after the page.
        items: the items of the page.
        is_last: whether nothing is left after the page.
        start: the position before the page.
        indices: the index of each item of the page in the response. The page omits items that are done or known.
        following: the next request; an error if the link cannot be followed, and None behind the last page.
        is_steady: whether each link led to the offset that the page size gives; None before the first page.
        empty_pages: how many of the last pages were empty.
        pages_read, duplicates, max_return, truncated, is_partial, changed: as the attributes of `Pager`.
    """

    end: Position
    items: list[T]
    following: PageRequest | PagingError | None
    is_last: bool = False
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
        is_all = count == len(self.items)
        return self.end if is_all else _after(listing, self.start, self.items[:count], self.indices)

    def requests(self, listing: Listing, count: int) -> list[PageRequest]:
        """Return the known next requests in order, up to `count` of them."""
        size, remaining = listing.page_size or listing.most, listing.remaining(self.end)
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
        seen: the ids of the earlier items.
        followed: the hashes of the requests of earlier links.
    """
    came, scene, before = content.items, content.scene, state.end.last_modified
    modified = scene.last_modified.isoformat() if scene and scene.last_modified else before
    changed = state.changed or (before is not None and modified != before)
    start = Position(request, state.end.done, state.end.items, state.end.received, modified, state.end.range)
    indices: Sequence[int] = range(start.done, len(came))
    received, remaining = len(indices), listing.remaining(start)
    if listing.time or changed:
        indices = _new(came, indices, seen)
    duplicates = state.duplicates + received - len(indices)
    is_complete = remaining is None or len(indices) <= remaining
    indices = indices[:remaining]
    items = came if len(indices) == len(came) else [came[index] for index in indices]
    end = _after(listing, start, items, indices)
    following: PageRequest | PagingError | None
    try:
        following = next_request(listing, state, request, content, followed)
    except PagingError as error:
        following, error.correlation_id = error, content.response.info().correlation_id
    if is_complete:
        at, done = (following, 0) if isinstance(following, PageRequest) else (request, len(came))
        end = Position(at, done, end.items, start.received + received, modified, end.range)
    is_last = following is None and is_complete
    # After the first unexpected link, links are cursors and are followed one by one.
    is_steady = following == PageRequest(skip=(request.skip or 0) + (request.top or 0)) and state.is_steady is not False
    max_return, truncated = content.max_return or state.max_return or listing.max_return, False
    if max_return is not None:
        following = None if end.received >= max_return else following
        # It is unspecified whether the cap counts skipped items; assume it does and report truncation.
        truncated = end.received + listing.skip >= max_return and not isinstance(following, PageRequest)
    return State(
        end=end,
        items=items,
        following=None if remaining == len(items) else following,
        is_last=is_last,
        start=start,
        indices=indices,
        is_steady=is_steady,
        empty_pages=0 if came else state.empty_pages + 1,
        pages_read=state.pages_read + 1,
        duplicates=duplicates,
        max_return=max_return,
        truncated=truncated,
        is_partial=state.is_partial or (scene is not None and scene.is_partial),
        changed=changed,
    )


def _after(listing: Listing, start: Position, items: Sequence[T], indices: Sequence[int]) -> Position:
    """Return the position after the first items of a page; `indices` are their indices in the response."""
    done = indices[len(items) - 1] + 1 if items else start.done
    time_range = start.range.after([*map(listing.moment, items)]) if listing.time and items else start.range
    received = start.received + done - start.done
    return Position(start.request, done, start.items + len(items), received, start.last_modified, time_range)


def _new(items: Sequence[T], indices: Sequence[int], seen: Set[str]) -> list[int]:
    """Return the indices of items with a new id; an item without an id is always new."""
    first: dict[object, int] = {}
    for index in indices:
        identity = getattr(items[index], "id", None)
        first.setdefault(identity if isinstance(identity, str) else index, index)
    return [index for identity, index in first.items() if identity not in seen]


def as_moment(time: object) -> Moment | None:
    """Return a time in the form of a filter; None for a value that is no time, or out of range in UTC."""
    if not isinstance(time, datetime) or not _FIRST <= time <= _LAST:
        return None
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _comparable(name: str) -> str:
    # A service may ignore `$`, case and blanks in the name of a parameter.
    return name.strip().lstrip("$").casefold()


def count_of(text: str) -> int | None:
    """Read decimal digits; None for any other string, and for more digits than a count can have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def next_request(
    listing: Listing, state: State[T], request: PageRequest, content: PageContent[T], followed: Set[int]
) -> PageRequest | None:
    """Return the request that the link of a page leads to; None if there is no link.

    The request has only the parameters that locate the page: keywords of the call in the link are dropped. An absent,
    null or empty `next` ends the listing. The arguments are those of `after_page`.

    Raises:
        PagingError: the link is not a URL, leads to another operation, has `$skip` or `$top` twice or not as a number,
            does not advance, or leads to a page that was read before.
    """
    link = getattr(content.links, "next_", content.links)
    href = getattr(link, "href", link)
    text = href.strip() if isinstance(href, str) else href
    if text in ("", None, UNSET):
        return None
    if not isinstance(text, str) or _CONTROL.search(text):
        raise PagingError("the link to the next page is not a string, or holds a control character")
    try:
        text.encode()
        place, _, query = text.partition("#")[0].partition("?")
        _check_place(place, listing.first.path)
        found = _page_request(query, listing)
    except ValueError:
        raise PagingError("the link to the next page is not a URL") from None
    is_ahead = found.cursor not in ("", request.cursor) if found.skip is None else found.skip > (request.skip or 0)
    if not is_ahead:
        raise PagingError("the link to the next page does not advance")
    if not content.items and state.empty_pages >= MOST_EMPTY:
        raise PagingError(f"more than {MOST_EMPTY} pages in a row were empty, and each links to another one")
    # Only a page size that the service chose is kept. After a resume, the page size may come from the earlier run.
    is_chosen = state.is_steady is not None and state.end.request is not None and state.end.request.top is not None
    if found.top == request.top and not is_chosen:
        found = found._replace(top=None)
    # An offset must grow, so a loop contains a link without an offset.
    if found.skip is None and hash(found) in followed:
        raise PagingError("the link to the next page leads to a page that was read before")
    return found


@lru_cache(maxsize=64)
def _check_place(place: str, path: str) -> None:
    """Reject a link to another operation, by the part before its query.

    Only the query is sent, and to the client's own address, so scheme, host, port and prefix of a link do not matter:
    behind a gateway or a proxy that terminates TLS they are often those of the backend. A service writes the same
    address into each link. Parsing it once saves 2 % of the instructions of a page (benchmark `page of 100 iTwins`).

    Raises:
        PagingError: the link holds user information, or its path does not end with the path of the operation.
        ValueError: it is not a URL.
    """
    parts = urlsplit(urljoin(path, place))
    if "@" in parts.netloc:
        raise PagingError("the link to the next page holds user information")
    _ = parts.port  # reading it checks it
    if not _comparable_path(parts.path).endswith(_comparable_path(path)):
        found = urlsplit(place).path[:200]
        raise PagingError(f"the link to the next page has the path {found!r}, which does not end with {path!r}")


def _comparable_path(path: str) -> str:
    """Return a path decoded, in one case, without dot segments, doubled slashes and a slash at its end."""
    return normpath(unquote(path)).casefold()


def _page_request(text: str, listing: Listing) -> PageRequest:
    """Read an encoded query, without the keywords of the call in it."""
    numbers: dict[str, int] = {}
    others = []
    for pair in filter(None, text.split("&")):
        encoded, _, value = pair.partition("=")
        name, number = unquote_plus(encoded, errors="strict"), count_of(value)
        if name not in (SKIP, TOP):
            others += [pair] * (_comparable(name) not in listing.parameters)
        elif name in numbers or number is None:
            raise PagingError("the link to the next page holds $skip or $top twice, or not as a number")
        else:
            numbers[name] = number
    return PageRequest(skip=numbers.get(SKIP), top=numbers.get(TOP), cursor=quote("&".join(others), safe=_SAFE))
