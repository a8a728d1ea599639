"""Requests of the caller's own, through the `httpx.AsyncClient` of the generated functions."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform import (
    APIStatusError,
    BackoffPolicy,
    NotFoundError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    PlatformError,
    RateLimitError,
    ResponseDecodeError,
    ServerError,
    UsageError,
)
from pytest_httpx import HTTPXMock

from tests.support.faces import check_address, check_body_size, check_path

BASE_URL = "https://service.example/api"
ACCEPT = "application/vnd.{vendor}.itwin-platform.v1+json"


async def send(platform: PlatformClient, path: str) -> httpx.Response:
    """Send with the client's `httpx.AsyncClient`, as a caller may."""
    return await platform.generated.get_async_httpx_client().get(path, headers={"Accept": ACCEPT})


@pytest.fixture
async def platform() -> AsyncIterator[PlatformClient]:
    """A client whose responses come from pytest-httpx."""
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1") as opened:
        yield opened


async def test_a_request_carries_what_the_client_sends(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """It has the base path, the token, the vendor in Accept, gzip only, and our User-Agent."""
    httpx_mock.add_response(json={"a": 1})
    response = await send(platform, "/things?x=1")
    assert response.json() == {"a": 1}
    [request] = httpx_mock.get_requests()
    assert str(request.url) == f"{BASE_URL}/things?x=1"
    assert request.headers["authorization"] == "Bearer t-1"
    assert request.headers["accept"] == "application/vnd.acme.itwin-platform.v1+json"
    assert request.headers["accept-encoding"] == "gzip"
    assert request.headers["user-agent"].startswith("itwin-platform/")
    assert "cookie" not in request.headers


ELSEWHERE = {"retry-after": "3600", "location": "https://evil.example/"}


@pytest.mark.parametrize(
    ("outcome", "error", "said", "requests"),
    [
        (httpx.Response(302, headers=ELSEWHERE), APIStatusError, "302", 1),
        (httpx.Response(404, headers=ELSEWHERE), NotFoundError, "404", 1),
        (httpx.Response(429, headers=ELSEWHERE), RateLimitError, "429", 1),
        (httpx.Response(500, headers=ELSEWHERE), ServerError, "500", 1),
        (httpx.ConnectError("x"), NotSentError, "after 7 attempts", 7),
        (httpx.ReadTimeout("x"), OutcomeUnknownError, "after 7 attempts", 7),
        (httpx.Response(200, headers={"content-encoding": "compress"}), ResponseDecodeError, "'compress'", 1),
    ],
)
async def test_what_goes_wrong_is_a_typed_error(
    httpx_mock: HTTPXMock, outcome: httpx.Response | Exception, error: type[PlatformError], said: str, requests: int
) -> None:
    """A status, a lost response and an encoding that was not asked for, with as many attempts as of an operation."""

    def respond(_: httpx.Request) -> httpx.Response:
        if isinstance(outcome, Exception):
            raise outcome
        return httpx.Response(outcome.status_code, headers=outcome.headers, stream=httpx.ByteStream(b"x"))

    httpx_mock.add_callback(respond, is_reusable=True)
    policy = BackoffPolicy(base_delay=0.0)
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1", backoff=policy) as platform:
        with pytest.raises(error, match=said):
            await send(platform, "/things")
    assert len(httpx_mock.get_requests()) == requests


async def test_all_paths_of_a_host_are_down_together(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Their operations are not known: one request probes for all others."""
    httpx_mock.add_response(503, is_reusable=True)
    calls = (send(platform, f"/things/{number}") for number in range(30))
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(error) for error in found} == {ServerError}
    assert len(httpx_mock.get_requests()) < 60


@pytest.mark.parametrize(
    "path",
    [
        "/../admin",
        "/a/../b",
        "/a/./b",
        "/a//b",
        "//evil.example/",
        "/a/..",
        "/.",
        "/a/..?x=/",
        "/a/..%2F..%2Fadmin",
        "/a/%2e%2E",
        "/a/%252e%252E",
        "/a/%2e",
        "/a/..%5Cadmin",
        "/a/x%5C..%5C..%5Cadmin",
    ],
)
async def test_a_path_that_climbs_is_rejected_before_sending(
    platform: PlatformClient, httpx_mock: HTTPXMock, path: str
) -> None:
    """An id that is empty or made of dots would reach another path."""
    with pytest.raises(UsageError, match="the request would reach another path"):
        await send(platform, path)
    assert not httpx_mock.get_requests()


@pytest.mark.parametrize("path", ["/\ud800", "/a\nb", "/x?a=\udcff"])
async def test_what_cannot_be_written_is_rejected(platform: PlatformClient, path: str) -> None:
    """An address that cannot be encoded is a UsageError, not one of httpx."""
    with pytest.raises(UsageError):
        await send(platform, path)


@pytest.mark.parametrize(
    "url",
    [
        *("http://service.example/api/x", "https://evil.example/api/x", "https://service.example:444/api/x"),
        *("https://service.example/other", "https://service.example/apix", "https://user:pass@service.example/api/x"),
        *(
            "https://service.example/api/../x",
            "https://service.example.evil.example/api/x",
            "ftp://service.example/api/x",
        ),
    ],
)
async def test_no_other_address_gets_the_token(platform: PlatformClient, httpx_mock: HTTPXMock, url: str) -> None:
    """Another scheme, host, port, user or path: rejected before anything is sent."""
    with pytest.raises(UsageError, match="requests go to"):
        await platform.generated.get_async_httpx_client().get(url)
    with pytest.raises(UsageError, match="requests go to"):
        await platform.generated.get_async_httpx_client().request("GET", httpx.URL(url))
    assert not httpx_mock.get_requests()


@pytest.mark.parametrize(
    ("arguments", "query", "headers"),
    [
        ({"url": "/itwins/?a=1", "params": {"b": "2"}}, [b"a=1&b=2", b"b=2"], {}),
        ({"url": "/itwins/", "params": [("a", "1"), ("a", "2")]}, [b"a=1&a=2"], {}),
        ({"url": "/itwins/", "params": {"a": ["1", "2"]}}, [b"a=1&a=2"], {}),
        ({"url": "/itwins/", "headers": [("x-mine", "b")]}, [b""], {"x-mine": ["b"]}),
        ({"url": "/itwins/", "headers": {"USER-AGENT": "mine"}}, [b""], {"user-agent": ["mine"]}),
        ({"url": "/itwins/", "headers": {"content-type": "a/b"}, "json": {}}, [b""], {"content-type": ["a/b"]}),
        ({"url": "/itwins/", "json": {}}, [b""], {"content-type": ["application/json"], "content-length": ["2"]}),
    ],
    ids=["query", "pairs", "lists", "header pairs", "own agent", "own type", "plain"],
)
async def test_what_httpx_takes_is_taken(
    platform: PlatformClient,
    httpx_mock: HTTPXMock,
    arguments: dict[str, Any],
    query: list[bytes],
    headers: dict[str, list[str]],
) -> None:
    """Parameters and headers in any form that an AsyncClient takes are sent as it sends them, each header once."""
    httpx_mock.add_response(json={})
    await platform.generated.get_async_httpx_client().request("POST", **arguments)
    sent = httpx_mock.get_requests()[0]
    assert sent.url.query in query
    assert {name: sent.headers.get_list(name) for name in headers} == headers
    assert len(sent.headers.get_list("host")) == len(sent.headers.get_list("user-agent")) == 1


def test_the_base_path_is_its_own_border() -> None:
    """A default port and upper case are the same origin; the base path itself is not below it."""
    base = httpx.URL("https://service.example/api/")
    check_address(httpx.URL("https://SERVICE.example:443/api/x?y=z"), base_url=base)
    check_address(httpx.URL("https://service.example/x"), base_url=httpx.URL("https://service.example"))
    with pytest.raises(UsageError, match="below"):
        check_address(httpx.URL("https://service.example/api"), base_url=base)


@pytest.mark.parametrize("path", ["/scenes/", "/a/b", "/a/...", "/a/b?next=../..", "/a/%2F..b", "/"])
def test_a_path_that_stays_is_taken(path: str) -> None:
    """Dots in a name and in a query are no climbing."""
    check_path(path)


async def test_json_is_written_as_operations_write_it(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Compact, in UTF-8, with its content type; what JSON does not have is rejected with the reason."""
    httpx_mock.add_response(json={})
    client = platform.generated.get_async_httpx_client()
    await client.patch("/things", json={"a": "ä", "b": [1, None]})
    [request] = httpx_mock.get_requests()
    assert request.content == '{"a":"ä","b":[1,null]}'.encode()
    assert request.headers["content-type"] == "application/json"
    with pytest.raises(UsageError, match="cannot be serialized as JSON"):
        await client.post("/x", json=float("nan"))


def test_a_body_above_the_limit_is_rejected_with_the_documented_code() -> None:
    """Exactly the limit is taken."""
    check_body_size(10, limit=10)
    check_body_size(11, limit=None)
    with pytest.raises(UsageError, match="has 11 bytes, at most 10 are allowed") as raised:
        check_body_size(11, limit=10)
    assert raised.value.code == "RequestTooLarge"
