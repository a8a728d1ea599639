"""1,000 tasks with options of their own on one client: none meets another's, and no connection is added."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform import BackoffPolicy, PlatformClient, ResponseInfo

from tests.support.raw_server import RawServer, raw_response

TASKS, IN_FLIGHT = 1_000, 20


@pytest.fixture(params=["default", "another's client"])
async def transport(request: pytest.FixtureRequest) -> AsyncIterator[dict[str, Any]]:
    """What a client sends through."""
    async with httpx.AsyncClient(trust_env=False) as given:
        kinds: dict[str, dict[str, Any]] = {
            "default": {},
            "another's client": {"http_client": given},
        }
        yield kinds[request.param]


async def test_no_option_leaks_and_no_connection_is_added(transport: dict[str, Any]) -> None:
    """Each request carries the options of its task alone; gate and connections are shared by all of them."""

    async def call(number: int) -> None:
        received: list[ResponseInfo] = []
        name = f"task-{number}"
        view = platform.with_options(
            timeout=20 + number, correlation_id=name, headers={f"X-{name}": name}, on_response=received.append
        )
        await view.itwins.get_primary_account()
        assert len(received) == 1

    async with RawServer(raw_response()) as server:
        policy = BackoffPolicy(max_in_flight=IN_FLIGHT)
        async with PlatformClient(server.address, vendor="v", token="t", backoff=policy, **transport) as platform:
            await asyncio.gather(*(call(number) for number in range(TASKS)))
    seen = set()
    for request in server.requests:
        [name] = request.headers.get_list("x-correlation-id")
        assert [pair for pair in request.headers.items() if pair[0].startswith("x-task-")] == [(f"x-{name}", name)]
        seen.add(name)
    assert len(server.requests) == len(seen) == TASKS
    # A pool may open a connection while it is about to get one back; one pool for each view would open 1,000.
    assert server.connections_accepted <= 2 * IN_FLIGHT
