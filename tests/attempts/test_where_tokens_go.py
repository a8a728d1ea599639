"""A token goes to the service's own address, with the request that it was given for, and nowhere else."""

import httpx
import pytest
from itwin_platform import APIStatusError, BackoffTransport, PlatformClient
from pytest_httpx import HTTPXMock

from tests.support.faces import TokenAuth

BASE_URL = "https://service.example/api"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(httpx_mock: HTTPXMock, status: int) -> None:
    """A redirect to anywhere is an error that shows where it leads in its headers; nothing else is sent."""
    httpx_mock.add_response(status, headers={"location": "https://evil.example/"})
    async with PlatformClient(BASE_URL, vendor="acme", token="t-1") as platform:
        with pytest.raises(APIStatusError) as raised:
            await platform.webhooks.update("w", active=True)
    assert (raised.value.status, raised.value.headers["Location"]) == (status, "https://evil.example/")
    assert [request.url.host for request in httpx_mock.get_requests()] == ["service.example"]


async def test_a_request_that_was_sent_stays_what_it_was(httpx_mock: HTTPXMock) -> None:
    """The retry after a 401 is another request object, so the first one keeps the rejected token."""
    httpx_mock.add_response(401)
    httpx_mock.add_response(json={"iTwin": {"id": "a-1"}})
    tokens = iter(["one", "two"])
    async with PlatformClient(BASE_URL, vendor="acme", token=lambda: next(tokens)) as platform:
        await platform.itwins.get_primary_account()
    assert [request.headers["authorization"] for request in httpx_mock.get_requests()] == ["Bearer one", "Bearer two"]


async def test_what_a_response_carries_shows_no_token(httpx_mock: HTTPXMock) -> None:
    """A program that prints the extensions of a rejected response prints no token."""
    httpx_mock.add_response(401)
    transport = BackoffTransport(httpx.AsyncHTTPTransport(), auth=TokenAuth("planted-token-4711"))
    async with httpx.AsyncClient(transport=transport) as client:
        response = await client.get(BASE_URL)
    assert response.status_code == 401
    assert "planted-token-4711" not in repr(response.extensions)
