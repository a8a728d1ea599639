"""Where a listing continues, decided from values alone. Source: sections 2.10, 4.3 and 4.6.

Invariants: a link is only read for its query, never sent to; no link changes a keyword of the call; a listing advances
or ends.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast
from urllib.parse import SplitResult, quote, unquote, unquote_plus, urlencode, urljoin, urlsplit

from .._api import RequestValues, Unset
from .._errors import PagingError, UsageError

#: The parameters that locate a page in its listing, each with its value as it stands in a URL. The values of a link
#: are sent as they came: a service may read a cursor that was decoded and encoded again as another one.
Query = tuple[tuple[str, str], ...]

SKIP, TOP = "$skip", "$top"
#: Keywords of every listing: options that OData services know, here without `$` and in lower case.
_ODATA_OPTIONS = frozenset({"apply", "compute", "count", "expand", "filter", "format", "orderby", "search", "select"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def next_query(
    href: object, *, address: str, current: Query, keywords: frozenset[str], keeps_size: bool = False
) -> Query | None:
    """Return the query of the next page from a `next` link.

    Keywords of the call are dropped from it, and `$top` where it equals the page size that was requested: only what
    the service decided by itself is left.

    Args:
        href: the link as it came; absent, null and empty end the listing, blanks around it do not matter.
        address: the URL of the listing, without a query.
        current: the query of the page that the link came with.
        keywords: as `keyword_names` returns them.
        keeps_size: whether the service chose the page size of `current`: then its `$top` is kept.

    Returns:
        The query of the next page; None where the listing ends.

    Raises:
        PagingError: the link is not a URL, leaves the listing's URL, has `$skip` or `$top` twice, or does not advance.
    """
    link = _link(href)
    if link is None:
        return None
    pairs = _pairs_of(link, address=address)
    names = [name for name, _ in pairs]
    if names.count(SKIP) > 1 or names.count(TOP) > 1:
        raise PagingError("the link to the next page holds $skip or $top twice")
    size = None if keeps_size else dict(current).get(TOP)
    query = tuple(pair for pair in pairs if not is_keyword(pair[0], keywords) and pair != (TOP, size))
    if not _advances(query, current):
        raise PagingError("the link to the next page does not advance")
    return query


def _link(href: object) -> str | None:
    if href is None or isinstance(href, Unset):
        return None
    link = href.strip() if isinstance(href, str) else "\0"
    if _CONTROL.search(link):
        raise PagingError("the link to the next page is not a string, or holds a control character")
    return link or None


def _pairs_of(link: str, *, address: str) -> Query:
    try:
        link.encode()
        # Nearly every link is the address itself and a query, which needs no parsing.
        plain = link.startswith(f"{address}?") and "#" not in link
        return _pairs(link[len(address) + 1 :]) if plain else _checked_pairs(link, address=address)
    except ValueError:
        raise PagingError("the link to the next page is not a URL") from None


def _advances(query: Query, current: Query) -> bool:
    after = skip_of(query)
    if after is not None and after <= (skip_of(current) or 0):
        return False
    return query not in ((), current, tuple(pair for pair in current if pair[0] != TOP))


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


def keyword_names(*names: str) -> frozenset[str]:
    """Return the names that no link may use, in the form in which `is_keyword` compares them: all but the page's."""
    return _ODATA_OPTIONS.union(_comparable(name) for name in names if name not in (SKIP, TOP))


def is_keyword(name: str, keywords: frozenset[str]) -> bool:
    """Tell whether a parameter is a keyword of the call, as a service that is lax about `$`, case and blanks may."""
    return _comparable(name) in keywords


def _comparable(name: str) -> str:
    return name.strip().lstrip("$").casefold()


def count_of(text: str) -> int | None:
    """Read decimal digits; None for any other string, and for more digits than a count can have."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def skip_of(query: Query) -> int | None:
    """Return `$skip` of a query; None where it has none, or none that is a number."""
    return count_of(dict(query).get(SKIP, ""))


def parameters_of(values: RequestValues) -> Mapping[str, str]:
    """Return the parameters of a request that `build_request` made, which is where they are by name."""
    return cast("Mapping[str, str]", values.query)


def page_values(first: RequestValues, query: Query) -> RequestValues:
    """Return the request of a page: the first one, with the query that locates the page in the listing.

    `$skip` of the first request is not carried on: a link without it continues by other means.
    """
    replaced = {SKIP, *(name for name, _ in query)}
    kept = {name: value for name, value in parameters_of(first).items() if name not in replaced}
    try:
        carried = urlencode(kept, safe="$", quote_via=quote)
        linked = [f"{quote(name, safe='$')}={value}" for name, value in query]
    except UnicodeError:
        raise UsageError("the request cannot be encoded: a string holds half of a surrogate pair") from None
    return replace(first, query="&".join([carried, *linked] if carried else linked))


def next_href(links: object) -> object:
    """Return the `next` address of paging links as it came; a value that is no link is returned as it is."""
    link = getattr(links, "next_", links)
    return getattr(link, "href", link)
