"""Requests of the caller through the `httpx.AsyncClient` of a client: their token, errors and addresses."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from itwin_platform import (
    APIStatusError,
    BackoffPolicy,
    BackoffTransport,
    OutcomeUnknownError,
    PlatformClient,
    PlatformError,
    RateLimitError,
    ResponseDecodeError,
    ServerError,
    UsageError,
)
from pytest_httpx import HTTPXMock

BASE_URL = "https://service.example/box"
ACCEPT = "application/vnd.acme.itwin-platform.v1+json"


def platform_of(**settings: Any) -> PlatformClient:
    """Return a client of the service."""
    return PlatformClient(BASE_URL, vendor="acme", token="t-1", **settings)


@pytest.fixture
async def ours() -> AsyncIterator[httpx.AsyncClient]:
    """The AsyncClient of the generated functions. pytest-httpx responds."""
    async with platform_of() as platform:
        yield platform.generated.get_async_httpx_client()


NOTES, GZIP = [("note", "a"), ("Note", "b")], {"content-encoding": "gzip"}


async def test_a_request_carries_what_the_client_sends(ours: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """It has the base path, the token, the vendor in Accept, gzip as its only encoding, and our User-Agent."""
    httpx_mock.add_callback(lambda _: httpx.Response(200, json={"a": 1}, headers=NOTES, extensions=dict(NOTES)))
    replaced = {"Accept": ACCEPT.replace("acme", "{vendor}"), "Authorization": "Bearer own", "Cookie": "a=b"}
    response = await ours.get("/things?x=1", headers=replaced)
    assert (response.json(), response.headers.get_list("note")) == ({"a": 1}, ["a", "b"])
    assert response.extensions.items() >= dict(NOTES).items()
    [request] = httpx_mock.get_requests()
    assert str(request.url) == f"{BASE_URL}/things?x=1"
    assert request.headers["user-agent"].startswith("itwin-platform/")
    expected = {"authorization": "Bearer t-1", "accept": ACCEPT, "accept-encoding": "gzip"}
    assert dict(request.headers).items() >= expected.items()
    assert "cookie" not in request.headers
    assert len(request.headers.get_list("host")) == len(request.headers.get_list("user-agent")) == 1


@pytest.mark.parametrize(
    ("outcome", "error", "requests"),
    [
        (httpx.Response(429, headers={"retry-after": "3600"}), RateLimitError, 1),
        (httpx.Response(302, headers={"location": "https://evil.example/"}), APIStatusError, 1),
        (httpx.Response(200, headers=GZIP, stream=httpx.ByteStream(b"x")), ResponseDecodeError, 1),
        (httpx.ReadTimeout("x"), OutcomeUnknownError, 7),
    ],
    ids=["rate limit", "redirect", "broken encoding", "lost"],
)
async def test_what_goes_wrong_is_a_typed_error(
    httpx_mock: HTTPXMock, outcome: httpx.Response | Exception, error: type[PlatformError], requests: int
) -> None:
    """The errors and the number of attempts are those of an operation; a redirect is not followed."""
    respond = Mock(side_effect=outcome if isinstance(outcome, Exception) else [outcome])
    httpx_mock.add_callback(respond, is_reusable=True)
    async with platform_of(backoff=BackoffPolicy(base_delay=0.0)) as platform:
        with pytest.raises(error) as caught:
            await platform.generated.get_async_httpx_client().get("/things?secret=planted")
    assert (caught.value.method, caught.value.route, caught.value.path) == ("GET", "/things", "/box/things")
    assert respond.call_count == requests


async def test_all_paths_of_a_host_share_a_circuit_breaker(ours: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """Their operations are unknown, so one request probes for all others."""
    httpx_mock.add_response(503, is_reusable=True)
    errors = await asyncio.gather(*(ours.get(f"/things/{number}") for number in range(30)), return_exceptions=True)
    assert {type(error) for error in errors} == {ServerError}
    assert len(httpx_mock.get_requests()) < 60


@pytest.mark.parametrize(
    "path",
    [
        *("/../admin", "/a/../b", "/a/./b", "/a//b", "//evil.example/", "/a/..", "/.", "/a/..?x=/"),
        *("/a/..%2F..%2Fadmin", "/a/%2e%2E", "/a/%252e%252E", "/a/%2e", "/a/..%5Cadmin", "/a/x%5C..%5C..%5Cadmin"),
    ],
)
async def test_a_path_that_climbs_is_rejected_before_sending(
    ours: httpx.AsyncClient, httpx_mock: HTTPXMock, path: str
) -> None:
    """An id that is empty or consists of dots would reach another path."""
    with pytest.raises(UsageError, match="the request would reach another path"):
        await ours.get(path)
    assert not httpx_mock.get_requests()


@pytest.mark.parametrize(
    "url",
    [*("/scenes/", "/a/b", "/a/...", "/a/b?next=../..", "/a/%2F..b", "/"), "https://SERVICE.example:443/box/x?y=z"],
)
async def test_a_path_that_does_not_climb_is_accepted(ours: httpx.AsyncClient, httpx_mock: HTTPXMock, url: str) -> None:
    """Dots in a name and in a query do not climb; a default port and upper case name the same origin."""
    httpx_mock.add_response()
    assert (await ours.get(url)).status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        *("http://service.example/box/x", "https://evil.example/box/x", "https://service.example:444/box/x"),
        *("https://service.example/other", "https://service.example/boxx", "https://user:pass@service.example/box/x"),
        *("https://service.example/box/../x", "https://service.example.evil.example/box/x"),
        *("ftp://service.example/box/x", "https://service.example/box"),
    ],
)
async def test_no_other_address_gets_the_token(ours: httpx.AsyncClient, httpx_mock: HTTPXMock, url: str) -> None:
    """A URL with another scheme, host, port, user or base path is rejected before a request is sent."""
    for address in (url, httpx.URL(url)):
        with pytest.raises(UsageError, match="requests go to"):
            await ours.get(address)
    assert not httpx_mock.get_requests()


async def test_the_token_stays_with_its_origin(httpx_mock: HTTPXMock) -> None:
    """A redirect elsewhere carries no token, a request with an Authorization keeps it, and extensions show none."""
    httpx_mock.add_response(302, headers={"Location": "https://other.example/"})
    httpx_mock.add_response(401, is_reusable=True)
    transport = BackoffTransport(httpx.AsyncHTTPTransport(), token="planted-token-4711")
    async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
        responses = [await client.get(BASE_URL, headers=headers) for headers in ({}, {"Authorization": "own"}, {})]
    sent = [request.headers.get_list("Authorization") for request in httpx_mock.get_requests()]
    assert sent == [["Bearer planted-token-4711"], [], ["own"], ["Bearer planted-token-4711"]]
    assert "planted-token-4711" not in repr([response.extensions for response in responses])
