"""Requests and responses are those of httpx, for everybody who looks at them or changes them on their way."""

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from itwin_platform import AccessToken, BackoffPolicy, PlatformClient
from itwin_platform_sandbox import Fault, Sandbox

from tests.support.faces import EngineTransport, as_httpx, values_of, without_encoding

ADDRESS = "http://127.0.0.1:1/a?b=c"


class Looking(httpx.AsyncBaseTransport):
    """A caller's transport that looks at each request before it passes it on, and changes a header of it."""

    cancels_cleanly = True

    def __init__(self, inner: httpx.AsyncBaseTransport, look: Callable[[httpx.Request], None]) -> None:
        self._inner, self._look = inner, look

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Look at the request, and pass it on."""
        self._look(request)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close what sends."""
        await self._inner.aclose()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox that records what it receives."""
    async with Sandbox(itwins=3) as sandbox:
        yield sandbox


@pytest.mark.parametrize("make", [EngineTransport, httpx.AsyncHTTPTransport], ids=["default", "httpx"])
async def test_a_transport_sees_all_headers_and_what_it_changes_is_sent(
    sandbox: Sandbox, make: Callable[[], httpx.AsyncBaseTransport]
) -> None:
    """A transport of the caller gets real `httpx.Headers` with the token, in each attempt; what it changes is sent."""
    seen: list[httpx.Headers] = []

    def look(request: httpx.Request) -> None:
        assert isinstance(request, httpx.Request)
        assert isinstance(request.headers, httpx.Headers)
        seen.append(request.headers.copy())
        request.headers["X-Correlation-Id"] = f"attempt-{len(seen)}"
        request.headers["user-agent"] = "changed"

    sandbox.add_fault(Fault(name="unavailable", count=1, retry_after="none"))
    async with PlatformClient(
        sandbox.base_url,
        vendor="sandbox",
        token=lambda: AccessToken(f"token-{len(seen)}"),
        transport=Looking(make(), look),
        backoff=BackoffPolicy(base_delay=0.01, max_delay=0.01),
    ) as platform:
        await platform.itwins.get_primary_account()
    assert [headers["authorization"] for headers in seen] == ["Bearer token-0", "Bearer token-1"]
    assert {"accept", "accept-encoding", "host", "user-agent"} <= seen[0].keys()
    received = [dict(request.headers) for request in sandbox.requests]
    assert [headers["x-correlation-id"] for headers in received] == ["attempt-1", "attempt-2"]
    assert {headers["user-agent"] for headers in received} == {"changed"}


async def test_a_copy_is_changed_apart() -> None:
    """A retry gets headers, extensions and body of its own."""
    extensions = {"route": "/a"}
    request = httpx.Request("POST", ADDRESS, headers={"Accept": "a/b"}, content=b"{}", extensions=extensions)
    copy = as_httpx(await values_of(request))
    copy.headers["Accept"] = "c/d"
    copy.extensions["more"] = 1
    assert request.headers["accept"] == "a/b"
    assert request.extensions == {"route": "/a"}
    assert (copy.method, copy.url, copy.content) == (request.method, request.url, b"{}")


def test_a_response_that_is_read_keeps_its_headers_and_not_its_encoding() -> None:
    """A decoded response has no Content-Encoding header, and all other headers, with several of one name."""
    received = [(b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=\xe9"), (b"Empty", b"")]
    encoded = [*received, (b"Content-Encoding", b"identity"), (b"content-length", b"2")]
    response = httpx.Response(200, headers=encoded, stream=httpx.ByteStream(b"{}"))
    assert without_encoding(response.headers).raw == received
    assert response.headers["content-length"] == "2"
