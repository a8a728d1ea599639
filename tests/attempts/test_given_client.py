"""Sending through somebody else's `httpx.AsyncClient`: all of ours applies, and it stays as it was."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from itwin_platform import (
    APIStatusError,
    AuthenticationError,
    NotFoundError,
    OutcomeUnknownError,
    PlatformClient,
    ResponseDecodeError,
    UsageError,
)
from pytest_httpx import HTTPXMock

BASE_URL = "https://service.example/api"
ACCOUNT = {"iTwin": {"id": "a-1", "class": "Account", "displayName": "Acme"}}


@pytest.fixture
async def given() -> AsyncIterator[httpx.AsyncClient]:
    """A client with habits of its own."""
    async with httpx.AsyncClient(
        auth=("user", "password"),
        params={"tenant": "7"},
        headers={"User-Agent": "theirs", "X-Theirs": "yes", "Accept": "text/html"},
        follow_redirects=True,
        timeout=1.0,
        base_url="https://other.example/base",
    ) as client:
        yield client


def platform_of(client: httpx.AsyncClient) -> PlatformClient:
    """Our client over theirs."""
    return PlatformClient(BASE_URL, vendor="acme", token="t-1", http_client=client)


async def test_ours_applies_and_theirs_is_kept(given: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """Our token, Accept, address and query win; their own headers and parameters go with them."""
    httpx_mock.add_response(json={"iTwins": [], "_links": {}})
    async with platform_of(given) as platform:
        assert await platform.itwins.list(display_name="A & B", page_size=5).collect() == []
    [request] = httpx_mock.get_requests()
    assert request.headers["authorization"] == "Bearer t-1"
    assert request.headers["accept"] == "application/vnd.acme.itwin-platform.v1+json"
    assert request.headers["user-agent"].startswith("itwin-platform/")
    assert request.headers["x-theirs"] == "yes"
    assert request.url.copy_with(query=None) == f"{BASE_URL}/itwins/"
    expected = {"tenant": "7", "displayName": "A & B", "$top": "5"}
    assert dict(request.url.params).items() >= expected.items()


async def test_a_query_stays_as_it_is_where_they_add_nothing(httpx_mock: HTTPXMock) -> None:
    """A client without default parameters sends our address byte by byte."""
    httpx_mock.add_response(json={"iTwins": [], "_links": {}}, is_reusable=True)
    async with httpx.AsyncClient() as theirs, platform_of(theirs) as platform:
        await platform.itwins.list(display_name="A & B").collect()
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1") as platform:
        await platform.itwins.list(display_name="A & B").collect()
    through_theirs, through_ours = httpx_mock.get_requests()
    assert through_theirs.url.raw_path == through_ours.url.raw_path


async def test_it_is_neither_changed_nor_closed(given: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """Headers, auth, parameters, timeout and hooks are what they were, and it can be used afterwards."""
    httpx_mock.add_response(json=ACCOUNT, is_reusable=True)

    def state() -> tuple[object, ...]:
        return (
            dict(given.headers),
            str(given.params),
            given.auth,
            given.timeout,
            given.base_url,
            given.follow_redirects,
            given.event_hooks,
            dict(given.cookies),
        )

    before = state()
    async with platform_of(given) as platform:
        await platform.itwins.get_primary_account()
    assert state() == before
    assert not given.is_closed
    await given.get("/afterwards")
    assert httpx_mock.get_requests()[-1].headers["authorization"].startswith("Basic ")


async def test_backoff_and_errors_apply(given: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """503 is retried, redirects are not followed, a status is a typed error, a body is limited."""
    httpx_mock.add_response(503)
    httpx_mock.add_response(json=ACCOUNT)
    httpx_mock.add_response(302, headers={"location": "https://evil.example/"})
    httpx_mock.add_response(404, json={"error": {"code": "ResourceNotFound", "message": "No."}})
    httpx_mock.add_response(content=b"[")
    async with platform_of(given) as platform:
        assert (await platform.itwins.get_primary_account()).id == "a-1"
        with pytest.raises(APIStatusError, match="302"):
            await platform.itwins.get_primary_account()
        with pytest.raises(NotFoundError):
            await platform.itwins.get_primary_account()
        with pytest.raises(ResponseDecodeError):
            await platform.itwins.get_primary_account()
    assert {request.url.host for request in httpx_mock.get_requests()} == {"service.example"}


async def test_a_redirect_that_cannot_be_read_is_no_response(given: httpx.AsyncClient, httpx_mock: HTTPXMock) -> None:
    """httpx fails on where it leads, also when it is not followed: the outcome is unknown, and the error is ours."""
    for location in ("https://xn--evl-.example/", "http://[::1"):
        httpx_mock.add_response(302, headers={"location": location})
    async with platform_of(given) as platform:
        for _ in range(2):
            with pytest.raises(OutcomeUnknownError, match="RemoteProtocolError"):
                await platform.scenes.create("i-1", display_name="A")


def raise_for_status(*, read: bool) -> Callable[[httpx.Response], object]:
    """The hook that httpx's own documentation shows."""

    async def hook(response: httpx.Response) -> None:
        if read:
            await response.aread()
        response.raise_for_status()

    return hook


@pytest.mark.parametrize(("read", "encoded"), [(False, False), (True, False), (True, True)])
async def test_a_hook_that_raises_for_the_status_changes_nothing(read: bool, encoded: bool) -> None:
    """Their hook raises HTTPStatusError: the status still decides, and a body that the hook has read is there."""
    body = b'{"error": {"code": "HeaderNotFound", "message": "No."}}'
    headers, content = ({"content-encoding": "gzip"}, gzip.compress(body)) if encoded else ({}, body)
    responses = iter([httpx.Response(503), httpx.Response(401, headers=headers, stream=httpx.ByteStream(content))])
    service = httpx.MockTransport(lambda _: next(responses))
    async with (
        httpx.AsyncClient(transport=service, event_hooks={"response": [raise_for_status(read=read)]}) as theirs,
        platform_of(theirs) as platform,
    ):
        with pytest.raises(AuthenticationError) as raised:
            await platform.itwins.get_primary_account()
    assert raised.value.attempts == 2
    assert raised.value.code == ("HeaderNotFound" if read else None)


async def test_a_client_that_they_closed_is_a_usage_error(given: httpx.AsyncClient) -> None:
    """Nothing is sent or retried through a client that is closed."""
    platform = platform_of(given)
    await given.aclose()
    with pytest.raises(UsageError, match="http_client is closed"):
        await platform.itwins.get_primary_account()
    assert asyncio.get_running_loop().time() == 0.0
