"""Headers that are made when somebody asks for them are those of httpx, and what is changed there is sent."""

import pickle
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from itwin_platform import AccessToken, BackoffPolicy, PlatformClient
from itwin_platform._http.attempts.body import read_body
from itwin_platform._http.connections.engine import EngineTransport
from itwin_platform._http.connections.lazy import LazyRequest, LazyResponse, header_of
from itwin_platform._requests.response import decoded_response
from itwin_platform_sandbox import Fault, Sandbox

RECEIVED = (
    (b"Content-Type", b"application/json"),
    (b"Set-Cookie", b"a=1"),
    (b"set-cookie", b"b=\xe9"),
    (b"Empty", b""),
)


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


def request_with(**headers: str) -> LazyRequest:
    """A request as the client makes it."""
    return LazyRequest(
        "POST",
        ADDRESS,
        url=httpx.URL(ADDRESS),
        headers=headers,
        content=b"{}",
        extensions={},
    )


@pytest.mark.parametrize("look_first", [False, True], ids=["plain", "looked at"])
def test_a_copy_is_changed_apart(look_first: bool) -> None:
    """A retry gets headers, extensions and body of its own, whether or not somebody looked at the first request."""
    request = request_with(Accept="a/b", Authorization="Bearer one")
    if look_first:
        request.headers["Accept"] = "c/d"
    copy = request.copy()
    copy.headers["Authorization"] = "Bearer two"
    copy.extensions["more"] = 1
    assert request.headers["authorization"] == "Bearer one"
    assert copy.headers.get_list("authorization") == ["Bearer two"]
    assert copy.headers["accept"] == ("c/d" if look_first else "a/b")
    assert "more" not in request.extensions
    assert (copy.method, copy.url, copy.content) == (request.method, request.url, b"{}")


async def test_a_request_has_what_a_request_of_httpx_has() -> None:
    """Its attributes, its body in both ways and its pickled form are those of an `httpx.Request`."""
    request = request_with(Accept="a/b")
    plain = httpx.Request("POST", "http://127.0.0.1:1/a?b=c", headers={"Accept": "a/b"}, stream=httpx.ByteStream(b"{}"))
    assert all(hasattr(request, name) for name in vars(plain))
    assert await request.aread() == request.content == await plain.aread()
    assert request.headers == plain.headers
    again = pickle.loads(pickle.dumps(request))  # noqa: S301  # of this test
    assert request.address == str(request.url) == ADDRESS
    request.url = httpx.URL("http://127.0.0.1:2/moved")
    assert request.address == "http://127.0.0.1:2/moved"
    assert (again.method, again.url, again.headers, again.content) == ("POST", plain.url, plain.headers, b"{}")


async def test_a_response_has_what_a_response_of_httpx_has() -> None:
    """Its attributes and headers, with several of one name, are those of an `httpx.Response`."""
    response = LazyResponse(207, RECEIVED, stream=httpx.ByteStream(b"{}"), extensions={"a": 1})
    plain = httpx.Response(207, headers=list(RECEIVED), stream=httpx.ByteStream(b"{}"), extensions={"a": 1})
    for name in ("content-type", "set-cookie", "empty", "missing"):
        assert header_of(response, name) == header_of(plain, name) == plain.headers.get(name)
    assert all(hasattr(response, name) for name in vars(plain))
    assert response.headers.raw == plain.headers.raw
    assert header_of(response, "set-cookie") == plain.headers["set-cookie"]
    assert (response.status_code, response.extensions, response.history) == (207, {"a": 1}, [])
    assert LazyResponse(200, RECEIVED, stream=httpx.ByteStream(b"")).history is not response.history


async def test_a_response_that_is_read_keeps_its_headers_and_not_its_encoding() -> None:
    """A decoded response has no Content-Encoding header, and all other headers."""
    encoded = (*RECEIVED, (b"Content-Encoding", b"identity"), (b"content-length", b"2"))
    response = LazyResponse(200, encoded, stream=httpx.ByteStream(b"{}"))
    read = decoded_response(await read_body(response, limit=10), limit=10)
    assert read.headers.raw == list(RECEIVED)
    assert response.headers["content-length"] == "2"
    assert (read.content, read.json()) == (b"{}", {})


def test_headers_that_are_set_on_a_response_count() -> None:
    """Headers that a hook or a transport sets on a response replace the received ones."""
    response = LazyResponse(200, RECEIVED, stream=httpx.ByteStream(b""))
    response.headers = httpx.Headers({"Content-Type": "text/plain"})
    assert response.headers["content-type"] == "text/plain"
    assert header_of(response, "content-type") == "text/plain"
    assert header_of(response, "set-cookie") is None
