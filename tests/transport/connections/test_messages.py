"""Requests and responses are those of httpx, for everybody who looks at them or changes them on their way."""

from contextlib import suppress
from typing import Any

import httpx
import pytest
from itwin_platform import PlatformClient
from itwin_platform_transport import AccessToken, BackoffPolicy, Request
from itwin_platform_transport.connections.engine import EngineTransport, head_of
from itwin_platform_transport.connections.messages import as_httpx, without_encoding, without_frames

from tests.support.services import PreparedResponse, RawServer, raw_response


class Looking(httpx.AsyncBaseTransport):
    """A caller's transport that looks at each request before it passes it on, and changes headers of it."""

    def __init__(self) -> None:
        self.inner = EngineTransport()
        self.seen: list[httpx.Headers] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Look at the request, and pass it on."""
        assert (type(request), type(request.headers)) == (httpx.Request, httpx.Headers)
        self.seen.append(request.headers.copy())
        request.headers.update({"X-Correlation-Id": f"attempt-{len(self.seen)}", "user-agent": "changed"})
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close what sends."""
        await self.inner.aclose()


async def test_a_transport_sees_all_headers_and_what_it_changes_is_sent() -> None:
    """A transport of the caller gets real `httpx.Headers` with the token, in each attempt; what it changes is sent."""
    transport = Looking()
    settings: dict[str, Any] = {"transport": transport, "backoff": BackoffPolicy(base_delay=0.0)}
    settings["token"] = lambda: AccessToken(f"token-{len(transport.seen)}")
    async with RawServer(PreparedResponse(status=503), raw_response()) as server:
        async with PlatformClient(server.address, vendor="v", **settings) as platform:
            await platform.itwins.get_primary_account()
        received = [request.headers for request in server.requests]
    assert [headers["authorization"] for headers in transport.seen] == ["Bearer token-0", "Bearer token-1"]
    assert {"accept", "accept-encoding", "host", "user-agent"} <= transport.seen[0].keys()
    assert [headers["x-correlation-id"] for headers in received] == ["attempt-1", "attempt-2"]
    assert [headers.get_list("user-agent") for headers in received] == [["changed"]] * 2


async def test_a_copy_is_changed_apart() -> None:
    """A retry gets headers, extensions and body of its own."""
    extensions = {"route": "/a"}
    url = "http://127.0.0.1:1/a?b=c"
    request = httpx.Request("POST", url, headers={"Accept": "a/b"}, content=b"{}", extensions=extensions)
    copy = as_httpx(await Request.of(request))
    copy.headers["Accept"] = "c/d"
    copy.extensions["more"] = 1
    assert request.headers["accept"] == "a/b"
    assert request.extensions == {"route": "/a"}
    assert (copy.method, copy.url, copy.content) == (request.method, request.url, b"{}")


def test_a_chain_of_errors_may_close_a_circle() -> None:
    """The frames of all of them go, whichever raised which."""
    errors = [ValueError("a"), ValueError("b")]
    for error, context in zip(errors, reversed(errors), strict=True):
        with suppress(ValueError):
            raise error
        error.__context__ = context
    assert without_frames(errors[0]) is errors[0]
    assert [error.__traceback__ for error in errors] == [None, None]


def test_a_response_that_is_read_keeps_its_headers_and_not_its_encoding() -> None:
    """A decoded response has no Content-Encoding header, and all other headers, with several of one name."""
    received = [(b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=\xe9"), (b"Empty", b"")]
    encoded = [*received, (b"Content-Encoding", b"identity"), (b"content-length", b"2")]
    response = httpx.Response(200, headers=encoded, stream=httpx.ByteStream(b"{}"))
    assert without_encoding(response.headers).raw == received
    assert response.headers["content-length"] == "2"


@pytest.mark.parametrize(
    ("method", "target", "header"),
    [
        (b"G T", b"/", (b"a", b"1")),
        (b"", b"/", (b"a", b"1")),
        (b"GET", b"/a b", (b"a", b"1")),
        (b"GET", b"/a\x7f", (b"a", b"1")),
        (b"GET", b"/\xe9", (b"a", b"1")),
        (b"GET", b"/\r\nHost: other", (b"a", b"1")),
        (b"GET", b"/", (b"a:", b"1")),
        (b"GET", b"/", (b"", b"1")),
        (b"GET", b"/", (b"a", b"1\r\nb: 2")),
        (b"GET", b"/", (b"a", b"1\x00")),
        (b"GET", b"/", (b"content-length", b"1")),
        (b"GET", b"/", (b"transfer-encoding", b"chunked")),
    ],
)
def test_a_head_that_could_be_read_as_another_is_rejected(
    method: bytes, target: bytes, header: tuple[bytes, bytes]
) -> None:
    """Method, target and headers have only characters that HTTP allows there, and state the length that is sent."""
    with pytest.raises(httpx.LocalProtocolError):
        head_of(method, target, [header], b"")
