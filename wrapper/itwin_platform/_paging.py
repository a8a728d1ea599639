"""Where a listing goes on, decided from values alone. Source: sections 2.10, 4.3 and 4.6.

Invariants: a link is only ever read for its query, never sent to; a listing advances or ends; memory stays flat.
"""

import base64
import binascii
import hashlib
import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, unquote, urljoin, urlsplit

from ._errors import PagingError, UsageError

#: A query as it is sent: names and values in order, a name possibly twice.
Query = tuple[tuple[str, str], ...]

SKIP, TOP = "$skip", "$top"
_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def next_query(href: object, *, address: str, current: Query) -> Query | None:
    """Reads the query of the next page from a `next` link.

    Args:
        href: the link as it came; absent, null and empty end the listing, blanks around it do not matter.
        address: the address of the page it came with, without a query.
        current: the query of that page.

    Returns:
        The query of the next page; None where the listing ends.

    Raises:
        PagingError: the link leaves the address, or does not advance.
    """
    if not isinstance(href, str) or not href.strip():
        return None
    link = href.strip()
    if _CONTROL.search(link):
        raise PagingError("the link to the next page holds a blank, a backslash or a control character")
    here, there = urlsplit(address), _split(urljoin(address, link))
    if _origin(here) != _origin(there):
        raise PagingError(f"the link to the next page leads to another origin than {here.scheme}://{here.netloc}")
    if unquote(there.path).rstrip("/") != unquote(here.path).rstrip("/"):
        raise PagingError("the link to the next page leads to another path than the listing's")
    query = tuple(parse_qsl(there.query, keep_blank_values=True))
    before, after = skip_of(current), skip_of(query)
    if query == current or (after is not None and after <= (before or 0)):
        raise PagingError("the link to the next page does not advance")
    return query


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # reading it is what refuses a port that is not a number
    except ValueError:
        raise PagingError("the link to the next page is not an address") from None
    return parts


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None, str | None]:
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.netloc.rpartition("@")[0] or None


def skip_of(query: Query) -> int | None:
    """Returns `$skip` of a query; None where it has none, or none that is a number."""
    value = dict(query).get(SKIP, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None


def continued(first: Query, query: Query | None) -> Query:
    """Returns the query to send: the keywords of the first request, and over them what the link says.

    `$skip` of the first request is not carried on: a link without it goes on by other means.
    """
    if query is None:
        return first
    said = {name for name, _ in query}
    return tuple(pair for pair in first if pair[0] not in said and pair[0] != SKIP) + query


def page_of(*, skip: int, page_size: int) -> Query:
    """Returns what the query of a first page says of its place."""
    return ((SKIP, str(skip)), (TOP, str(page_size)))


def link_of(links: object, name: str) -> object:
    """Returns the address in a paging link as it came; None where any part of it is missing."""
    link = getattr(links, name, None)
    return getattr(link, "href", None)


class Trail:
    """Tells whether a cursor came before, in flat memory: the last thousand exactly, longer loops in time."""

    def __init__(self) -> None:
        self._recent: deque[int] = deque(maxlen=1000)
        self._known: set[int] = set()
        self._landmark: int | None = None
        self._steps, self._power = 0, 1

    def repeats(self, query: Query) -> bool:
        """Notes a cursor and tells whether it is known."""
        mark = hash(query)
        if mark in self._known or mark == self._landmark:
            return True
        if len(self._recent) == self._recent.maxlen:
            self._known.discard(self._recent[0])
        self._recent.append(mark)
        self._known.add(mark)
        self._steps += 1
        if self._steps == self._power:
            # Brent: a landmark that moves at powers of two lies on any loop sooner or later.
            self._landmark, self._steps, self._power = mark, 0, self._power * 2
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stride:
    """How a service goes on that pages as asked: the same query each time, `$skip` further by `step`."""

    query: Query
    first: int
    step: int

    def at(self, skip: int) -> Query:
        """Returns the query of the page that begins at `skip`."""
        return tuple((name, str(skip) if name == SKIP else value) for name, value in self.query)


def stride(current: Query, following: Query, *, page_size: int) -> Stride | None:
    """Finds the stride between a page and the next; None where the service pages otherwise than asked."""
    first = skip_of(following)
    if first is None:
        return None
    step = first - (skip_of(current) or 0)
    if step != page_size or dict(following).get(TOP, str(page_size)) != str(page_size):
        return None
    return Stride(query=following, first=first, step=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a listing: a page, the items of it that are done, and what was counted before.

    Args:
        query: the query of the page; None for the first one.
        done: items of the page that have been handed out.
        items: items handed out in all.
        max_return: the X-Max-Return in use, where there is one.
        last_modified: the scene's last modification as first seen, where there is one.
    """

    query: Query | None = None
    done: int = 0
    items: int = 0
    max_return: int | None = None
    last_modified: str | None = None


_VERSION = 1


def fingerprint(operation: str, keywords: Mapping[str, object]) -> str:
    """Returns a short name for a listing: its operation, and a digest of its keywords."""
    text = json.dumps(keywords, sort_keys=True, default=str)
    return f"{operation}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def write_resume(position: Position, *, listing: str) -> str:
    """Writes a position as an opaque text, without host or token."""
    fields = [
        *(_VERSION, listing, position.query, position.done, position.items),
        *(position.max_return, position.last_modified),
    ]
    return base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode().rstrip("=")


def read_resume(text: str, *, listing: str) -> Position:
    """Reads a position back.

    Raises:
        UsageError: the text is not one of ours, or belongs to another listing.
    """
    try:
        fields = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        version, belongs_to, query, done, items, max_return, last_modified = fields
        position = Position(
            query=None if query is None else tuple((str(name), str(value)) for name, value in query),
            done=int(done),
            items=int(items),
            max_return=max_return,
            last_modified=last_modified,
        )
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise UsageError("resume is not a text that this client wrote: pass it on unchanged") from None
    if version != _VERSION:
        raise UsageError(f"resume was written by a version with another format ({version!r}): start the listing anew")
    if belongs_to != listing:
        raise UsageError(
            f"resume belongs to another listing ({str(belongs_to).partition(':')[0]}, or other keywords): give the "
            "keywords of the first run, all but concurrency"
        )
    return position
