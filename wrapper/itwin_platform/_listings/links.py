"""Where a listing goes on, decided from values alone. Source: sections 2.10, 4.3 and 4.6.

Invariants: a link is only ever read for its query, never sent to; a listing advances or ends; memory stays flat.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import SplitResult, quote, unquote, unquote_plus, urlencode, urljoin, urlsplit

from .._api import RequestValues, Unset
from .._errors import PagingError

#: Where a page is: names, each with its value as it stands in an address. The values of a link are sent on as they
#: came, because a service may read a cursor that was decoded and encoded again as another one.
Query = tuple[tuple[str, str], ...]

SKIP, TOP = "$skip", "$top"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
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
        PagingError: the link is no link, leaves the address, or does not advance.
    """
    if href is None or isinstance(href, Unset) or (isinstance(href, str) and not href.strip()):
        return None
    if not isinstance(href, str) or _CONTROL.search(href.strip()):
        raise PagingError("the link to the next page is not a text, or holds a control character")
    link = href.strip()
    try:
        # Nearly every link is the address itself and a query, which needs no closer look.
        plain = link.startswith(f"{address}?") and "#" not in link
        query = _pairs(link[len(address) + 1 :]) if plain else _checked_pairs(link, address=address)
    except ValueError:
        raise PagingError("the link to the next page is not an address") from None
    after = skip_of(query)
    if query == current or (after is not None and after <= (skip_of(current) or 0)):
        raise PagingError("the link to the next page does not advance")
    return query


def _checked_pairs(link: str, *, address: str) -> Query:
    here, there = urlsplit(address), urlsplit(urljoin(address, link))
    query = _pairs(there.query)
    if _origin(there) != _origin(here):
        raise PagingError(f"the link to the next page leads to another origin than {here.scheme}://{here.netloc}")
    if unquote(there.path).rstrip("/") != unquote(here.path).rstrip("/"):
        raise PagingError("the link to the next page leads to another path than the listing's")
    return query


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None, str | None]:
    port = _DEFAULT_PORTS.get(parts.scheme) if parts.port is None else parts.port
    return parts.scheme, parts.hostname, port, parts.netloc.rpartition("@")[0] or None


def _pairs(query: str) -> Query:
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return tuple((unquote_plus(name, errors="strict"), value) for name, _, value in pairs)


def count_of(text: str) -> int | None:
    """Reads decimal digits; None for any other text, and for more digits than a count can have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def skip_of(query: Query) -> int | None:
    """Returns `$skip` of a query; None where it has none, or none that is a number."""
    return count_of(dict(query).get(SKIP, ""))


def page_request(first: RequestValues, query: Query | None) -> RequestValues:
    """Return the request of a page: that of the first page, and over its query what the link says, if any.

    `$skip` of the first request is not carried on: a link without it continues by other means.
    """
    if query is None or isinstance(first.query, str):
        return first
    return replace(first, query=_encoded(first.query.items(), query))


def _encoded(first: Iterable[tuple[str, str]], query: Query) -> str:
    said = {SKIP, *(name for name, _ in query)}
    carried = urlencode([pair for pair in first if pair[0] not in said], safe="$")
    linked = [f"{quote(name, safe='$')}={value}" for name, value in query]
    return "&".join([carried, *linked] if carried else linked)


def page_of(*, skip: int, page_size: int) -> Query:
    """Returns what the query of a first page says of its place."""
    return ((SKIP, str(skip)), (TOP, str(page_size)))


def link_of(links: object, name: str) -> object:
    """Returns the address in a paging link as it came; what is there in place of a link comes as it is."""
    link = getattr(links, name, links)
    return getattr(link, "href", link)


def is_as_asked(current: Query, following: Query, *, page_size: int) -> bool:
    """Tells whether the next page is where the page size that was asked for puts it."""
    after = skip_of(following)
    advances = after is not None and after - (skip_of(current) or 0) == page_size
    return advances and dict(following).get(TOP, str(page_size)) == str(page_size)


def shifted(query: Query, by: int) -> Query:
    """Returns the query of the page that begins `by` items further on."""
    return tuple((name, str(int(value) + by) if name == SKIP else value) for name, value in query)


class LoopDetector:
    """Tells whether a query came before, in flat memory: the last thousand exactly, longer loops in time."""

    def __init__(self) -> None:
        self._recent: deque[int] = deque(maxlen=1000)
        self._known: set[int] = set()
        self._landmark: int | None = None
        self._steps, self._power = 0, 1

    def repeats(self, query: Query) -> bool:
        """Notes a query and tells whether it is known."""
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
