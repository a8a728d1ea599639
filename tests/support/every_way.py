"""Every way to send a request, all with the same promises."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpcore
import httpx
import httpx2
import pytest
from itwin_platform import APIStatusError, EngineTransport, PlatformClient
from itwin_platform_transport import BackoffPolicy, BackoffTransport

from tests.support.real_time import run_in

TOKEN = "planted-token-of-20-characters"
#: Retries without a delay.
AT_ONCE = BackoffPolicy(base_delay=0.0)
#: The functions that tools replace, by the way that is taken then.
WATCHED: dict[str, tuple[type, str]] = {
    "watched client": (httpx.AsyncClient, "send"),
    "watched httpcore": (httpcore.AsyncHTTPConnection, "handle_async_request"),
}
#: What a call raises when the service responds with a status of 300 or above.
STATUS_ERRORS = (APIStatusError, httpx.HTTPStatusError)
#: The library of a client or a transport that the caller passes, by the way that is taken then.
CLIENTS: dict[str, ModuleType] = {"http_client": httpx, "httpx2 client": httpx2}
PLAIN: dict[str, ModuleType] = {"plain": httpx, "httpx2 plain": httpx2}
#: In these, a hook or a transport of the caller reads each response itself.
READS_ITSELF = (*CLIENTS, "wrapped", "httpx2 wrapped")
#: In these, the connections are the caller's.
NOT_OWN = (*READS_ITSELF, *PLAIN)
#: `default` runs a second time, under uvloop, and while somebody watches a function of httpx or httpcore.
WAYS = ("default", "around the engine", *NOT_OWN, "uvloop", *WATCHED)


Scenario = Callable[..., Coroutine[Any, Any, None]]


def _in_ways(scenario: Scenario, ways: tuple[str, ...]) -> Callable[..., None]:
    @functools.wraps(scenario)
    def run(**arguments: Any) -> None:
        run_in(arguments["way"], functools.partial(scenario, **arguments))

    parametrized: Callable[..., None] = pytest.mark.parametrize("way", ways)(run)
    return parametrized


def in_every_way(scenario: Scenario) -> Callable[..., None]:
    """Make a test that runs a coroutine function once for each way, in the event loop of that way."""
    return _in_ways(scenario, WAYS)


def on_own_connections(scenario: Scenario) -> Callable[..., None]:
    """Make a test of what only our own connections promise: what a caller's transport does is the caller's."""
    return _in_ways(scenario, ("default", "derived from the engine", "around the engine", "uvloop"))


@dataclass(frozen=True, slots=True)
class PlatformCalls:
    """Calls of a PlatformClient."""

    client: PlatformClient

    async def get(self) -> str:
        """Return the id of the primary account."""
        return str((await self.client.itwins.get_primary_account()).id)

    async def post(self) -> str:
        """Create a detector, which a second request would create twice, and return its name."""
        return str((await self.client.detectors.create(name="d", type="PhotoObjectDetector")).name)


@dataclass(frozen=True, slots=True)
class PlainCalls:
    """The same requests of an ordinary `httpx.AsyncClient`, on a BackoffTransport."""

    client: httpx.AsyncClient

    async def get(self) -> str:
        """Get the primary account."""
        response = await self.client.get("/itwins/myprimaryaccount")
        return str(response.raise_for_status().json()["iTwin"]["id"])

    async def post(self) -> str:
        """Create a detector."""
        response = await self.client.post("/reality-analysis/detectors", json={})
        return str(response.raise_for_status().json()["detector"]["name"])


class LoggingTransport(httpx.AsyncHTTPTransport):
    """Reads each response before it returns it, as transports do that log bodies."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send and read."""
        response = await super().handle_async_request(request)
        await response.aread()
        return response


class LoggingTransportOfHTTPX2(httpx2.AsyncHTTPTransport):
    """The same for httpx2."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send and read."""
        response = await super().handle_async_request(request)
        await response.aread()
        return response


class DerivedTransport(EngineTransport):
    """Adds a header to each request, as transports do that sign requests."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sign and send."""
        request.headers["X-Signature"] = "signed"
        return await super().handle_async_request(request)


class OuterTransport(httpx.AsyncBaseTransport):
    """The same around another transport."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sign and send."""
        request.headers["X-Signature"] = "signed"
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close what sends."""
        await self.inner.aclose()


#: The transport that a caller passes, by its way.
GIVEN: dict[str, Callable[[], httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport]] = {
    "wrapped": LoggingTransport,
    "httpx2 wrapped": LoggingTransportOfHTTPX2,
    "derived from the engine": DerivedTransport,
    "around the engine": lambda: OuterTransport(EngineTransport()),
}


async def _read(response: httpx.Response | httpx2.Response) -> None:
    await response.aread()


def _given_client(library: ModuleType) -> Any:
    """Return a client with settings of its own, and a hook that reads each response, as hooks do that log bodies."""
    return library.AsyncClient(
        event_hooks={"response": [_read]},
        auth=("user", "password"),
        base_url="http://elsewhere.invalid/prefix",
        cookies={"theirs": "1"},
    )


@contextmanager
def watched(way: str) -> Iterator[list[object]]:
    """Replace the function of httpx or httpcore that a way is named by, as tools do, and yield what it gets."""
    seen: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        if way in WATCHED:
            owner, name = WATCHED[way]
            own = getattr(owner, name)

            async def watch(sender: object, request: object, **others: object) -> object:
                seen.append(request)
                return await own(sender, request, **others)

            patch.setattr(owner, name, watch)
        yield seen


@asynccontextmanager
async def opened(
    way: str,
    address: str,
    *,
    timeout: float | httpx.Timeout = 30.0,  # noqa: ASYNC109  # the client's own
    backoff: BackoffPolicy = AT_ONCE,
    max_response_bytes: int = 10_000_000,
) -> AsyncIterator[PlatformCalls | PlainCalls]:
    """Open a client that sends in one of the ways."""
    async with AsyncExitStack() as stack:
        stack.enter_context(watched(way))
        if way in PLAIN:
            sends = BackoffTransport(
                PLAIN[way].AsyncHTTPTransport(), policy=backoff, max_response_bytes=max_response_bytes
            )
            headers = {"Authorization": f"Bearer {TOKEN}"}
            plain = httpx.AsyncClient(transport=sends, base_url=address, timeout=timeout, headers=headers)
            yield PlainCalls(await stack.enter_async_context(plain))
            return
        platform = PlatformClient(
            address,
            vendor="v",
            token=TOKEN,
            timeout=timeout,
            backoff=backoff,
            max_response_bytes=max_response_bytes,
            transport=GIVEN[way]() if way in GIVEN else None,
            http_client=await stack.enter_async_context(_given_client(CLIENTS[way])) if way in CLIENTS else None,
        )
        yield PlatformCalls(await stack.enter_async_context(platform))
