"""Requests as the attempts of a call send them."""

import httpx
from itwin_platform_transport import Origin, Request


def request_to(address: str, *, method: str = "GET") -> Request:
    """Return a request without headers and body."""
    url = httpx.URL(address)
    return Request(method, Origin.of(url), url.raw_path, (), b"", {})
