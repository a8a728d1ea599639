"""Reading a page of iTwins. Source: sections 2.10 and 4.3."""

import httpx

from .._api import ITwin, list_itwins
from .._listings.links import count_of, keyword_names, link_of
from .._listings.page import PageContent
from .._transports.decoding.typed_pages import read_typed
from .._transports.platform import unwrap
from .rules import ITWIN_QUERY

#: The query parameters that a continuation never changes.
ITWIN_KEYWORDS = keyword_names(*ITWIN_QUERY.values())


def read_itwin_page(response: httpx.Response) -> PageContent[ITwin]:
    """Decode a response to list iTwins."""
    parsed = read_typed(response.content) or list_itwins.parse_response(response)
    return PageContent(
        items=unwrap(response, parsed.itwins, list),
        next_href=link_of(parsed.links, "next_"),
        max_return=count_of(response.headers.get("x-max-return", "")),
    )
