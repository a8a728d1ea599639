"""Prepared pages for httpx's own transport, and what was asked for there."""

from urllib.parse import unquote

import httpx
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


def raw_queries(httpx_mock: HTTPXMock) -> list[str]:
    """The query of each request as it went over the wire."""
    return [request.url.query.decode() for request in httpx_mock.get_requests()]


def sent(request: httpx.Request, *names: str) -> dict[str, str | None]:
    """Some headers of a request."""
    return {name: request.headers.get(name) for name in names}
