"""Where a listing continues, read from a link or from a resume string. Source: sections 2.10, 4.3 and 4.6.

Neither is trusted. A link is only read for its query, never sent to. The resume string is opaque and versioned, without
host, token or keyword. Neither changes a keyword of the call, and a listing advances or ends.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from posixpath import normpath
from typing import Annotated, NamedTuple, cast
from urllib.parse import quote, unquote, unquote_plus, urljoin, urlsplit

from itwin_platform_api.request import RequestValues
from itwin_platform_api.types import UNSET
from itwin_platform_transport import UsageError, check_integer
from msgspec import Meta
from msgspec.json import decode, encode

from .._errors import PagingError
from .._requests.request import check_characters, encode_query
from .._requests.sender import PlatformSender

SKIP, TOP = "$skip", "$top"
#: Keywords of every listing: options that OData services know, here without `$` and in lower case.
_ODATA_OPTIONS = frozenset({"apply", "compute", "count", "expand", "filter", "format", "orderby", "search", "select"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: The times of an iTwin that a listing can be partitioned by, with their attributes. Source: section 2.5.
TIMES = {"createdDateTime": "created_date_time", "lastModifiedDateTime": "last_modified_date_time"}
#: The format of resume strings: strings of another one belong to another listing.
_FORMAT = 5
#: Characters that a cursor may hold where it stands in a query.
_SAFE = "!$%&'()*+,-./:<=>?@[\\]^_`{|}~"
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

Count = Annotated[int, Meta(ge=0)]
Cursor = Annotated[str, Meta(pattern=f"^[A-Za-z0-9{re.escape(_SAFE)}]*\\Z")]
#: A time in UTC as it stands in a filter. All have one length, so that they are in order as strings.
Moment = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")]


class PageRequest(NamedTuple):
    """A request for a page, by the parameters that locate the page in its listing.

    Args:
        skip, top: `$skip` and `$top`; None where they are not named.
        cursor: all others as they stand in a URL: a service may read a cursor that was decoded and encoded again as
            another one.
    """

    skip: Count | None = None
    top: Count | None = None
    cursor: Cursor = ""


class TimeRange(NamedTuple):
    """iTwins whose time is `since` or later and before `until`, where these are given.

    Args:
        since, until: the bounds.
        timeless: whether iTwins without a time are still to come: in this range, unless it ends before them.
        reached: the time of the item that was handed out last; None if it has none.
        ties: how many of the last items have this time, also in the ranges before.
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
    """A position in a listing: a page, the items of it that are done, and what was counted before.

    Args:
        request: the request for the page; None for the first one.
        done: items of the page that have been handed out, or dropped.
        items: items handed out in all.
        received: items handed out or dropped, which count for X-Max-Return; in a range, those of the range.
        last_modified: the last modification of the scene as last seen, where there is one.
        range: the range of time that is being read: everything, but in a listing by ranges.
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
        page_size: items of one request; None for the most, or for what `limit` leaves if that is less.
        skip: items that the caller skips.
        limit: items that the caller wants in all.
        concurrency: the most requests in flight.
        max_return: items that the service returns in all, unless it responds with another number.
        time: the property by whose ranges the listing is read; empty if it is not.

    From these follows `carried`: the parameters of each page, encoded, beside those that locate it.

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
    carried: str = field(init=False)

    def __post_init__(self) -> None:
        query, derive = parameters_of(self.first), partial(object.__setattr__, self)
        check_characters("a keyword", *query.values())
        derive("carried", encode_query({name: query[name] for name in query if name not in (SKIP, TOP)}))
        derive("parameters", _ODATA_OPTIONS.union(map(_comparable, {*self.parameters, *query} - {SKIP, TOP})))
        derive("concurrency", check_integer("concurrency", self.concurrency, least=1))
        for name, least in (("limit", 0), ("page_size", 1), ("skip", None), ("max_return", None)):
            value = getattr(self, name)
            derive(name, None if value is None else check_integer(name, value, least=least))

    def query(self, request: PageRequest) -> str:
        """Return the query of a request for a page, encoded."""
        numbers = f"{TOP}={request.top}" if request.skip is None else f"{SKIP}={request.skip}&{TOP}={request.top}"
        return "&".join(filter(None, (self.carried, numbers, request.cursor)))

    def moment(self, item: object) -> Moment | None:
        """Return the time of an item by which the listing is partitioned."""
        return as_moment(getattr(item, TIMES[self.time]))


def as_moment(time: object) -> Moment | None:
    """Return a time as it stands in a filter; None if it is missing, or not a time in any zone."""
    if not isinstance(time, datetime) or not _FIRST <= time <= _LAST:
        return None
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def parameters_of(values: RequestValues) -> Mapping[str, str]:
    """Return the parameters of a request that `build_request` made, which is where they are by name."""
    return cast("Mapping[str, str]", values.query)


def _comparable(name: str) -> str:
    # As a service may compare that is lax about `$`, case and blanks.
    return name.strip().lstrip("$").casefold()


def count_of(text: str) -> int | None:
    """Read decimal digits; None for any other string, and for more digits than a count can have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def next_request(links: object, listing: Listing, *, current: PageRequest) -> PageRequest | None:
    """Return the request for the next page from the links of a page.

    Keywords of the call are dropped from it: only what the service decided by itself is left.

    Args:
        links: the links as they came. An absent, null or empty `next` ends the listing.
        listing: the listing.
        current: the request for the page that the link came with.

    Raises:
        PagingError: the link is not a URL, leads to another operation, has `$skip` or `$top` twice or not as a number,
            or does not advance.
    """
    link = getattr(links, "next_", links)
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
    is_ahead = found.cursor not in ("", current.cursor) if found.skip is None else found.skip > (current.skip or 0)
    if not is_ahead:
        raise PagingError("the link to the next page does not advance")
    return found


@lru_cache(maxsize=64)
def _check_place(place: str, path: str) -> None:
    """Reject a link to another operation, by what stands before its query.

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
        said = urlsplit(place).path[:200]
        raise PagingError(f"the link to the next page has the path {said!r}, which does not end with {path!r}")


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
    return PageRequest(skip=numbers.get(SKIP), top=numbers.get(TOP), cursor="&".join(others))


def _identity(name: str, first: RequestValues) -> str:
    """Return a short name for a listing: its operation, and a digest of the format and of its first request."""
    # A run that continues may have another correlation id.
    headers = {header: value for header, value in first.headers.items() if header.lower() != "x-correlation-id"}
    digest = hashlib.sha256(encode([_FORMAT, first.path, first.query, headers], order="sorted")).hexdigest()
    return f"{name}:{digest[:16]}"


def write_resume(position: Position, name: str, first: RequestValues) -> str:
    """Serialize a position in the listing with this name and this first request."""
    request = position.request
    if request is not None and request.cursor:
        position = position._replace(request=request._replace(cursor=quote(request.cursor, safe=_SAFE)))
    return base64.urlsafe_b64encode(encode((_identity(name, first), position))).decode().rstrip("=")


def read_resume(text: object, listing: Listing) -> Position:
    """Deserialize a position.

    Raises:
        UsageError: the string was not written by `write_resume`, or belongs to another listing.
    """
    try:
        raw = base64.b64decode(f"{text}{'=' * (-len(str(text)) % 4)}", altchars=b"-_", validate=True)
        identity, position = decode(raw, type=tuple[str, Position])
        cursor = "" if position.request is None else position.request.cursor
        if _page_request(cursor, listing) != PageRequest(cursor=cursor):
            raise ValueError  # noqa: TRY301  # handled as every other fault of the string
    except (ValueError, RecursionError, PagingError):
        said = "resume is not a string that this client returned: pass it on unchanged, or start the listing anew"
        raise UsageError(said, argument="resume") from None
    if identity != _identity(listing.name, listing.first):
        raise UsageError(
            f"resume belongs to another listing ({identity.partition(':')[0]}, or other keywords): pass the keywords "
            "and extra_query of the first run; only limit, concurrency, on_page and other options may differ",
            argument="resume",
        )
    return position
