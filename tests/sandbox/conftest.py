"""A running sandbox and an HTTP client of it, for every test that asks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import client_of

Rejected = tuple[int, str, list[tuple[str, str | None]]]

# Event loops differ where sockets are closed and reset; faults and bad inputs must not fail under either.
BOTH_LOOPS = (
    "test_faults.py",
    "test_server.py",
)


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests of sockets under asyncio and, where it is installed, under uvloop."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return {"asyncio": asyncio.new_event_loop}
    if item.path.name in BOTH_LOOPS:
        return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture
def size() -> int:
    """How many iTwins and scene objects the sandbox has; a module of tests with several pages overrides it."""
    return 30


@pytest.fixture
async def sandbox(request: pytest.FixtureRequest, size: int) -> AsyncIterator[Sandbox]:
    """A running sandbox; the marker `itwin_sandbox` says another size, and more."""
    marker = request.node.get_closest_marker("itwin_sandbox")
    arguments: dict[str, Any] = {"itwins": size, "objects": size, **(marker.kwargs if marker else {})}
    async with Sandbox(**arguments) as running:
        yield running


@pytest.fixture
async def http(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it with its token."""
    async with client_of(sandbox) as client:
        yield client


@pytest.fixture
def rejected(http: httpx.AsyncClient) -> Callable[..., Awaitable[Rejected]]:
    """Sends a request and returns status, code and (detail code, target) of its error, checking the form of it."""

    async def send(
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        content: bytes | None = None,
    ) -> Rejected:
        response = await http.request(
            method, url, params=params, headers=dict(headers or {}), json=json, content=content
        )
        return error_of(response)

    return send


def error_of(response: httpx.Response) -> Rejected:
    """Status, code and details of an error, after a look at its form."""
    body = response.json()
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() == {"code", "message", "target", "details"}
    assert error["message"]
    assert all(detail.keys() == {"code", "message", "target"} and detail["message"] for detail in error["details"])
    return response.status_code, error["code"], [(detail["code"], detail["target"]) for detail in error["details"]]
