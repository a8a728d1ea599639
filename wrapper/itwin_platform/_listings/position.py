"""Where a listing continues, read from a link or from a resume string. Source: sections 2.10, 4.3 and 4.6.

Neither is trusted. A link is only read for its query, never sent to. The resume string is opaque and versioned, without
host, token or keyword. Neither changes a keyword of the call, and a listing advances or ends.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import SplitResult, quote, unquote, unquote_plus, urljoin, urlsplit

from msgspec import Meta, convert
from msgspec.json import decode, encode

from .._api import RequestValues, Unset
from .._errors import PagingError, UsageError

SKIP, TOP = "$skip", "$top"
#: Keywords of every listing: options that OData services know, here without `$` and in lower case.
_ODATA_OPTIONS = frozenset({"apply", "compute", "count", "expand", "filter", "format", "orderby", "search", "select"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_VERSION = 3
#: What a cursor may hold where it stands in a query.
_SAFE = "!$%&'()*+,-./:<=>?@[\\]^_`{|}~"
_CURSOR = re.compile(f"[A-Za-z0-9{re.escape(_SAFE)}]*")

Count = Annotated[int, Meta(ge=0)]
#: A time in UTC.
Moment = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery:
    """The parameters that locate a page in its listing.

    Args:
        skip, top: `$skip` and `$top`; None where they are not named.
        cursor: all others as they stand in a URL: a service may read a cursor that was decoded and encoded again as
            another one.
    """

    skip: Count | None = None
    top: Count | None = None
    cursor: str = ""

    def encoded(self, carried: str) -> str:
        """Return the query as it is sent, behind the encoded keywords of the call."""
        numbers = ((SKIP, self.skip), (TOP, self.top))
        pairs = [f"{name}={number}" for name, number in numbers if number is not None]
        return "&".join(filter(None, (carried, *pairs, self.cursor)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """iTwins whose time is `since` or later and before `until`, where these are given.

    Args:
        since, until: the bounds.
        timeless: whether iTwins without a time are still to come: in this range, unless it ends before them.
        reached: the time of the item that was handed out last; None where it has none.
        ties: how many of the last items have this time, also in the ranges before.
    """

    since: Moment | None = None
    until: Moment | None = None
    timeless: bool = True
    reached: Moment | None = None
    ties: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position in a listing: a page, the items of it that are done, and what was counted before.

    Args:
        query: the query of the page; None for the first one.
        done: items of the page that have been handed out, or dropped.
        items: items handed out in all.
        received: items handed out or dropped, which count for X-Max-Return; in a range, those of the range.
        last_modified: the last modification of the scene as last seen, where there is one.
        range: the range that is being read, in a listing by ranges of time.
    """

    query: PageQuery | None = None
    done: Count = 0
    items: Count = 0
    received: Count = 0
    last_modified: str | None = None
    range: TimeRange | None = None


def keyword_names(*names: str) -> frozenset[str]:
    """Return the names that neither links nor resume strings may use, in comparable form: all but the page's."""
    return _ODATA_OPTIONS.union(_comparable(name) for name in names if name not in (SKIP, TOP))


def _comparable(name: str) -> str:
    # As a service may compare that is lax about `$`, case and blanks.
    return name.strip().lstrip("$").casefold()


def count_of(text: str) -> int | None:
    """Read decimal digits; None for any other string, and for more digits than a count can have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def next_query(
    links: object, *, address: str, current: PageQuery, keywords: frozenset[str], size: int | None
) -> PageQuery | None:
    """Return the query of the next page from the links of a page.

    Keywords of the call are dropped from it, and a `$top` of `size`: only what the service decided by itself is left.

    Args:
        links: the links as they came. An absent, null or empty `next` ends the listing.
        address: the URL of the listing, without a query.
        current: the query of the page that the link came with.
        keywords: as `keyword_names` returns them.
        size: the page size that the run chose.

    Raises:
        PagingError: the link is not a URL, leaves the listing's URL, has `$skip` or `$top` twice or not as a number,
            or does not advance.
    """
    link = getattr(links, "next_", links)
    href = getattr(link, "href", link)
    text = href.strip() if isinstance(href, str) else "" if href is None or isinstance(href, Unset) else "\0"
    if not text:
        return None
    if _CONTROL.search(text):
        raise PagingError("the link to the next page is not a string, or holds a control character")
    try:
        text.encode()
        query = _page_query(_query_of(text, address=address), keywords)
    except ValueError:
        raise PagingError("the link to the next page is not a URL") from None
    if not _advances(query, current):
        raise PagingError("the link to the next page does not advance")
    return replace(query, top=None) if query.top == size else query


def _advances(query: PageQuery, current: PageQuery) -> bool:
    return query.cursor not in ("", current.cursor) if query.skip is None else query.skip > (current.skip or 0)


def _query_of(link: str, *, address: str) -> str:
    here, there = urlsplit(address), urlsplit(urljoin(address, link))
    if _origin(there) != _origin(here):
        raise PagingError(f"the link to the next page leads to another origin than {here.scheme}://{here.netloc}")
    if unquote(there.path).rstrip("/") != unquote(here.path).rstrip("/"):
        raise PagingError("the link to the next page leads to another path than the listing's")
    return there.query


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None, str | None]:
    port = _DEFAULT_PORTS.get(parts.scheme) if parts.port is None else parts.port
    return parts.scheme, parts.hostname, port, parts.netloc.rpartition("@")[0] or None


def _page_query(text: str, keywords: frozenset[str]) -> PageQuery:
    """Read an encoded query, without the keywords of the call in it."""
    numbers: dict[str, int] = {}
    others = []
    for pair in filter(None, text.split("&")):
        encoded, _, value = pair.partition("=")
        name, number = unquote_plus(encoded, errors="strict"), count_of(value)
        if name not in (SKIP, TOP):
            others += [pair] * (_comparable(name) not in keywords)
        elif name in numbers or number is None:
            raise PagingError("the link to the next page holds $skip or $top twice, or not as a number")
        else:
            numbers[name] = number
    return PageQuery(skip=numbers.get(SKIP), top=numbers.get(TOP), cursor="&".join(others))


def listing_name(operation: str, first: RequestValues) -> str:
    """Return a short name for a listing: its operation, and a digest of its first request."""
    # A run that continues may have another correlation id.
    headers = {name: value for name, value in first.headers.items() if name.lower() != "x-correlation-id"}
    text = json.dumps([first.path, first.query, headers], sort_keys=True)
    return f"{operation}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def write_resume(position: Position, *, listing: str) -> str:
    """Serialize a position."""
    query = position.query
    if query is not None and query.cursor:
        position = replace(position, query=replace(query, cursor=quote(query.cursor, safe=_SAFE)))
    return base64.urlsafe_b64encode(encode((_VERSION, listing, position))).decode().rstrip("=")


def read_resume(text: object, *, listing: str, keywords: frozenset[str]) -> Position:
    """Deserialize a position.

    Raises:
        UsageError: the string was not written by `write_resume`, or belongs to another listing.
    """
    try:
        padding = "=" * (-len(str(text)) % 4)
        version, belongs_to, *fields = decode(
            base64.b64decode(f"{text}{padding}", altchars=b"-_", validate=True), type=list[Any]
        )
        position = _position(fields, keywords) if version == _VERSION else None
    except (ValueError, RecursionError, PagingError):
        raise UsageError(
            "resume is not a string that this client returned: pass it on unchanged", argument="resume"
        ) from None
    if position is None:
        raise UsageError(
            f"resume was written by a version with another format ({version}): start the listing anew",
            argument="resume",
        )
    if belongs_to != listing:
        raise UsageError(
            f"resume belongs to another listing ({str(belongs_to).partition(':')[0]}, or other keywords): pass the "
            "keywords of the first run; only limit, concurrency, on_page and correlation_id may differ",
            argument="resume",
        )
    return position


def _position(fields: list[object], keywords: frozenset[str]) -> Position:
    (position,) = convert(fields, tuple[Position])
    cursor = "" if position.query is None else position.query.cursor
    time_range = position.range or TimeRange()
    if any(moment and moment.utcoffset() for moment in (time_range.since, time_range.until, time_range.reached)):
        raise ValueError
    if not _CURSOR.fullmatch(cursor) or _page_query(cursor, keywords) != PageQuery(cursor=cursor):
        raise ValueError
    return position
