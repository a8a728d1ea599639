"""Prepared pages for httpx's own transport, and what was asked for there."""

import json
from dataclasses import dataclass, field
from urllib.parse import unquote

import httpx
from itwin_platform import BackoffPolicy, PlatformClient
from pytest_httpx import HTTPXMock

BASE_URL = "https://service.example/prefix"
SCENE = "6a2d2381-6c57-9332-387a-5b7c00000000"
ITWIN = "dc90a5f3-2f61-4c87-9f35-1a4b7c6d8e90"


def itwin_page(*ids: str, link: object = None) -> dict[str, object]:
    """The body of a page of iTwins; `link` is the href of `next`."""
    links = {} if link is None else {"next": {"href": link}}
    return {"iTwins": [{"id": identity} for identity in ids], "_links": links}


def object_page(*ids: str, link: object = None, **context: object) -> dict[str, object]:
    """The body of a page of scene objects."""
    links = {} if link is None else {"next": {"href": link}}
    return {"objects": [{"id": identity} for identity in ids], "sceneContext": context, "_links": links}


def queries(httpx_mock: HTTPXMock) -> list[str]:
    """The query of each request, in order, readable."""
    return [unquote(request.url.query.decode()) for request in httpx_mock.get_requests()]


@dataclass(kw_only=True)
class LinkedPages(httpx.AsyncBaseTransport):
    """A service that responds with prepared pages, one after the other, and records the query of each request."""

    pages: list[dict[str, object]]
    cap: int | None = None
    queries: list[str] = field(default_factory=list)
    cancels_cleanly = True

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Respond with the next page."""
        page = self.pages[min(len(self.queries), len(self.pages) - 1)]
        self.queries.append(request.url.query.decode())
        headers = {} if self.cap is None else {"X-Max-Return": str(self.cap)}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(json.dumps(page).encode()))

    @property
    def platform(self) -> PlatformClient:
        """A client of the service, which never retries."""
        policy = BackoffPolicy(max_attempts=1)
        return PlatformClient(BASE_URL, vendor="v", token="t", transport=self, backoff=policy)


def linked(*links: object, count: int = 1, cap: int | None = None) -> LinkedPages:
    """Pages of `count` iTwins with these links."""
    ids = ([str(number * count + item) for item in range(count)] for number in range(len(links)))
    return LinkedPages(pages=[itwin_page(*names, link=link) for names, link in zip(ids, links, strict=True)], cap=cap)
