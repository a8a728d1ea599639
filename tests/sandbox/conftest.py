"""A running sandbox and an HTTP client of it, for every test that asks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Refused = tuple[int, str, list[tuple[str, str | None]]]


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox of 250 iTwins and 250 scene objects."""
    async with Sandbox(itwins=250, objects=250) as running:
        yield running


@pytest.fixture
async def http(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it with its token."""
    headers = {"Authorization": f"Bearer {sandbox.token}", "Accept": "application/json"}
    # Reading the certificates that plain HTTP never needs would take longer than most tests.
    async with httpx.AsyncClient(base_url=sandbox.base_url, headers=headers, verify=False) as client:  # noqa: S501
        yield client


@pytest.fixture
def refused(http: httpx.AsyncClient) -> Callable[..., Awaitable[Refused]]:
    """Sends a request and returns status, code and (detail code, target) of its refusal, checking the form of it."""

    async def send(
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        content: bytes | None = None,
    ) -> Refused:
        answer = await http.request(method, url, params=params, headers=dict(headers or {}), json=json, content=content)
        return refusal_of(answer)

    return send


def refusal_of(answer: httpx.Response) -> Refused:
    """Status, code and details of a refusal, after a look at its form."""
    body = answer.json()
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() == {"code", "message", "target", "details"}
    assert error["message"]
    assert all(detail.keys() == {"code", "message", "target"} and detail["message"] for detail in error["details"])
    return answer.status_code, error["code"], [(detail["code"], detail["target"]) for detail in error["details"]]
