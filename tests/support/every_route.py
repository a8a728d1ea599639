"""The routes by which a client sends a request. The same promises hold for all of them."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from itwin_platform import BackoffPolicy, PlatformClient

from tests.support.networks import WATCHED, watched
from tests.support.real_time import run_in

TOKEN = "planted-token-of-20-characters"
#: Retries without a delay.
AT_ONCE = BackoffPolicy(base_delay=0.0)
ROUTES = ("default", "uvloop", "watched client", "watched httpcore", "transport", "httpx2 transport", "http_client")


def by_every_route(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Make a test that runs a coroutine function once for each route, in the event loop of that route."""

    @functools.wraps(scenario)
    def run(**arguments: Any) -> None:
        run_in(arguments["route"], functools.partial(scenario, **arguments))

    parametrized: Callable[..., None] = pytest.mark.parametrize("route", ROUTES)(run)
    return parametrized


async def get(platform: PlatformClient) -> str:
    """Return the id of the primary account."""
    return str((await platform.itwins.get_primary_account()).id)


async def post(platform: PlatformClient) -> str:
    """Create a detector with a POST, and return its name."""
    return str((await platform.detectors.create(name="d", type="PhotoObjectDetector")).name)


async def _read(response: httpx.Response) -> None:
    await response.aread()


def _http_client() -> httpx.AsyncClient:
    """Return a client with its own settings, and a hook that reads each response, as a hook does that logs bodies."""
    return httpx.AsyncClient(
        event_hooks={"response": [_read]},
        auth=("user", "password"),
        base_url="http://elsewhere.invalid/prefix",
        cookies={"theirs": "1"},
    )


@asynccontextmanager
async def opened(route: str, address: str, *, backoff: BackoffPolicy = AT_ONCE, **settings: Any) -> AsyncIterator[Any]:
    """Open a client that sends by a route."""
    async with AsyncExitStack() as stack:
        stack.enter_context(watched(route))
        if route == "http_client":
            settings["http_client"] = await stack.enter_async_context(_http_client())
        elif route.endswith("transport") and route not in WATCHED:
            settings["transport"] = (httpx2 if route == "httpx2 transport" else httpx).AsyncHTTPTransport()
        platform = PlatformClient(address, vendor="v", token=TOKEN, backoff=backoff, **settings)
        yield await stack.enter_async_context(platform)
