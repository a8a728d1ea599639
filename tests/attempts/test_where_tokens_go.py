"""A token goes to the service's own address, over https or to loopback, and nowhere else."""

import httpx
import pytest
from itwin_platform import APIStatusError, BackoffTransport, PagingError, PlatformClient, TokenError, UsageError
from pytest_httpx import HTTPXMock

from tests.support.faces import TokenAuth, call_result

BASE_URL = "https://service.example/api"


@pytest.mark.parametrize(
    "url", ["http://service.example", "http://10.0.0.1", "http://localhost.evil.example", "http://127.0.0.1.nip.io"]
)
def test_plain_http_is_rejected(url: str) -> None:
    """Unless it is said that it may be."""
    with pytest.raises(UsageError, match="plain http"):
        PlatformClient(url, vendor="acme", token="t-1")
    PlatformClient(url, vendor="acme", token="t-1", allow_insecure=True)


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1", "http://[::1]:8080", "http://127.8.9.1"])
def test_loopback_may_be_plain(url: str) -> None:
    """What does not leave the machine cannot be read on the way."""
    assert repr(PlatformClient(url, vendor="acme", token="t-1")).startswith("PlatformClient(base_url='http://")


@pytest.mark.parametrize("token", ["", "a\nb", "a b"])
def test_a_token_that_cannot_be_sent_is_rejected_at_once(token: str) -> None:
    """Before anything is sent; the empty one counts as none."""
    with pytest.raises((TokenError, UsageError)):
        PlatformClient(BASE_URL, vendor="acme", token=token)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(httpx_mock: HTTPXMock, status: int) -> None:
    """A redirect to anywhere is an error that shows where it leads in its headers; nothing else is sent."""
    httpx_mock.add_response(status, headers={"location": "https://evil.example/"})
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1") as platform:
        with pytest.raises(APIStatusError) as raised:
            await platform.webhooks.update("w", active=True)
    assert (raised.value.status, raised.value.headers["Location"]) == (status, "https://evil.example/")
    assert [request.url.host for request in httpx_mock.get_requests()] == ["service.example"]


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/api/itwins/?$skip=1",
        "//evil.example/itwins/?$skip=1",
        "http://service.example/api/itwins/?$skip=1",
    ],
)
async def test_a_link_is_not_followed_off_the_origin(httpx_mock: HTTPXMock, link: str) -> None:
    """A next link to another origin raises before a byte is sent."""
    item = {"id": "i-1", "class": "Account"}
    httpx_mock.add_response(json={"iTwins": [item], "_links": {"next": {"href": link}}})
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1") as platform:
        with pytest.raises(PagingError):
            await platform.itwins.list(page_size=1).collect()
    assert [request.url.host for request in httpx_mock.get_requests()] == ["service.example"]


async def test_each_attempt_carries_a_fresh_token(httpx_mock: HTTPXMock) -> None:
    """Also a retry: the function is asked for every attempt, and may be plain or async."""
    httpx_mock.add_response(503)
    httpx_mock.add_response(json={"iTwin": {"id": "a-1"}})
    tokens = iter(["one", "two"])

    async def source() -> str:
        return next(tokens)

    async with PlatformClient(BASE_URL, vendor="acme", token=source) as platform:
        await platform.itwins.get_primary_account()
    assert [request.headers["authorization"] for request in httpx_mock.get_requests()] == ["Bearer one", "Bearer two"]


async def test_a_request_that_was_sent_stays_what_it_was(httpx_mock: HTTPXMock) -> None:
    """The retry after a 401 is another request object, so the first one keeps the rejected token."""
    httpx_mock.add_response(401)
    httpx_mock.add_response(json={"iTwin": {"id": "a-1"}})
    tokens = iter(["one", "two"])
    async with PlatformClient(BASE_URL, vendor="acme", token=lambda: next(tokens)) as platform:
        await platform.itwins.get_primary_account()
    assert [request.headers["authorization"] for request in httpx_mock.get_requests()] == ["Bearer one", "Bearer two"]


async def test_a_source_that_fails_is_a_token_error_and_sends_nothing(httpx_mock: HTTPXMock) -> None:
    """Through the client, with the cause beneath it."""

    def source() -> str:
        raise httpx.ConnectError("the identity provider is down")

    async with PlatformClient(BASE_URL, vendor="acme", token=source) as platform:
        with pytest.raises(TokenError, match="the token provider failed: ConnectError") as raised:
            await platform.itwins.get_primary_account()
    assert isinstance(raised.value.__cause__, httpx.ConnectError)
    assert not httpx_mock.get_requests()


async def test_what_a_response_carries_shows_no_token(httpx_mock: HTTPXMock) -> None:
    """A program that prints the extensions of a rejected response prints no token."""
    httpx_mock.add_response(401)
    transport = BackoffTransport(httpx.AsyncHTTPTransport(), auth=TokenAuth("planted-token-4711"))
    async with httpx.AsyncClient(transport=transport) as client:
        response = await client.get(BASE_URL)
    assert response.status_code == 401
    token = call_result(response).token
    assert token is not None
    assert token.value == "planted-token-4711"
    assert "planted-token-4711" not in repr(response.extensions)
