"""A running sandbox and an HTTP client of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import client_of


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests of sockets under uvloop too: event loops differ where sockets are closed and reset."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if item.path.name in ("test_between_tests.py", "test_faults_on_the_wire.py", "test_server.py"):
        try:
            import uvloop
        except ImportError:  # there is none for Windows
            return loops
        loops["uvloop"] = uvloop.new_event_loop
    return loops


@pytest.fixture
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A running sandbox with 30 iTwins and objects, or with the arguments of the marker `itwin_sandbox`."""
    marker = request.node.get_closest_marker("itwin_sandbox")
    arguments: dict[str, Any] = {"itwins": 30, "objects": 30, **(marker.kwargs if marker else {})}
    async with Sandbox(**arguments) as running:
        yield running


@pytest.fixture
async def http(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the sandbox with its token."""
    async with client_of(sandbox) as client:
        yield client
