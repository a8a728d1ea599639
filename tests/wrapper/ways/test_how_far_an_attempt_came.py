"""A call that is ended from outside says whether its request was written, whatever the attempt waited for."""

import asyncio
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from typing import Any, cast

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    StateError,
)
from itwin_platform_transport import BackoffTransport, TransportError

from tests.support.every_way import TOKEN, PlainCalls, PlatformCalls, in_every_way, opened
from tests.support.networks import authority
from tests.support.services import RawServer, raw_response

#: Long enough for a request to be written on a busy machine; the call then hangs until its deadline.
SHORT = BackoffPolicy(deadline=0.3)


class Silent:
    """Accepts connections and reads; it sends what it is told to, and then nothing."""

    def __init__(self, *sent: bytes) -> None:
        self.to_send = list(sent)
        self.transports: list[asyncio.Transport] = []
        self.received = asyncio.Event()
        self.port = 0


class Connection(asyncio.Protocol):
    """One of its connections."""

    def __init__(self, peer: Silent) -> None:
        self._peer = peer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._peer.transports.append(cast("asyncio.Transport", transport))  # uvloop's is of a class of its own

    def data_received(self, data: bytes) -> None:
        """Send what comes next."""
        self._peer.received.set()
        if self._peer.to_send:
            self._peer.transports[-1].write(self._peer.to_send.pop(0))


@asynccontextmanager
async def silent(*sent: bytes) -> AsyncIterator[Silent]:
    """Listen on loopback."""
    peer = Silent(*sent)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(peer), "127.0.0.1", 0)
    peer.port = server.sockets[0].getsockname()[1]
    yield peer
    server.close()
    for transport in peer.transports:
        transport.abort()
    await asyncio.sleep(0)


async def ended_by_deadline(
    calls: PlatformCalls | PlainCalls, has_begun: Callable[[], Awaitable[object]]
) -> TransportError:
    """Wait for the deadline of a POST."""
    with pytest.raises(DeadlineExceededError) as raised:
        await calls.post()
    return raised.value


async def ended_by_closing(
    calls: PlatformCalls | PlainCalls, has_begun: Callable[[], Awaitable[object]]
) -> TransportError:
    """Close the client while a POST is in progress."""
    call = asyncio.create_task(calls.post())
    await has_begun()
    await calls.client.aclose()
    with pytest.raises(TransportError) as raised:
        await call
    return raised.value


ENDS = {"deadline": ended_by_deadline, "closing": ended_by_closing}
#: The error by how the call ended, and by whether its request was written.
KINDS: dict[tuple[str, bool], type[TransportError]] = {
    ("closing", False): NotSentError,
    ("closing", True): OutcomeUnknownError,
    ("deadline", False): DeadlineExceededError,
    ("deadline", True): DeadlineExceededError,
}


@contextmanager
def unreachable() -> Iterator[str]:
    """Yield an address that accepts no connection, and rejects none: its queue is full."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as server, ExitStack() as stack:
        for _ in range(4):
            waiting = stack.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


async def soon() -> None:
    """Wait until an attempt connects."""
    await asyncio.sleep(0.05)


@pytest.mark.parametrize("end", ENDS)
@in_every_way
async def test_a_request_that_was_written_counts_as_sent(way: str, end: str) -> None:
    """A peer reads it and never responds: it may have had an effect."""
    policy = SHORT if end == "deadline" else BackoffPolicy()
    async with silent() as peer, opened(way, f"http://127.0.0.1:{peer.port}", backoff=policy) as calls:
        error = await ENDS[end](calls, peer.received.wait)
        assert (error.sent, error.attempts, type(error)) == (True, 1, KINDS[end, True])
        assert str(error).endswith("1 request was sent")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems reject a connection when the queue is full")
@pytest.mark.parametrize("end", ENDS)
@in_every_way
async def test_a_request_that_was_not_written_does_not_count(way: str, end: str) -> None:
    """The connection was not made: it had no effect, and the attempt does not count."""
    policy = SHORT if end == "deadline" else BackoffPolicy()
    with unreachable() as address:
        async with opened(way, address, backoff=policy) as calls:
            error = await ENDS[end](calls, soon)
            assert (error.sent, error.attempts, type(error)) == (False, 0, KINDS[end, False])
            assert str(error).endswith("; nothing was sent")


@asynccontextmanager
async def resolver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mapping[str, Any]]:
    """The name of the host is looked up for ever."""

    async def getaddrinfo(*_: object, **__: object) -> object:
        return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    yield {"base_url": "https://service.invalid", "ssl_context": ssl.create_default_context(cadata=authority())}


@asynccontextmanager
async def certificates(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mapping[str, Any]]:
    """The default certificates are on a disk that does not respond."""
    go_on = threading.Event()

    def create_ssl_context(**_: object) -> ssl.SSLContext:
        go_on.wait()
        return ssl.create_default_context(cadata=authority())

    monkeypatch.setattr(httpx, "create_ssl_context", create_ssl_context)
    yield {"base_url": "https://service.invalid"}
    go_on.set()


@asynccontextmanager
async def certificates_for_a_proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mapping[str, Any]]:
    """The same, where a proxy applies."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    async with certificates(monkeypatch) as settings:
        yield settings


@asynccontextmanager
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mapping[str, Any]]:
    """The proxy accepts the connection, and does not respond to CONNECT."""
    async with silent() as peer:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{peer.port}")
        yield {"base_url": "https://service.invalid", "ssl_context": ssl.create_default_context(cadata=authority())}


STAGES = (resolver, certificates, certificates_for_a_proxy, proxy)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
@pytest.mark.parametrize("end", [*ENDS, "connect timeout"])
async def test_nothing_is_sent_before_there_is_a_connection(
    stage: Callable[[pytest.MonkeyPatch], Any], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the default transport waits for: a POST had no effect, and may be sent again."""
    limits = {"deadline": SHORT, "closing": BackoffPolicy(), "connect timeout": BackoffPolicy(max_attempts=1)}
    # What a proxy responds to CONNECT has the time limit of reading.
    timeout = httpx.Timeout(30.0, connect=0.1, read=0.1) if end == "connect timeout" else 30.0
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with stage(monkeypatch) as settings:
        client = PlatformClient(vendor="v", token=TOKEN, backoff=limits[end], timeout=timeout, **settings)
        async with client:
            if end == "connect timeout":
                with pytest.raises(NotSentError, match=r"after 1 attempt; nothing was sent \((Connect|Read)Timeout"):
                    await PlatformCalls(client).post()
            else:
                error = await ENDS[end](PlatformCalls(client), soon)
                assert (error.sent, error.attempts) == (False, 0)
                assert str(error).endswith("; nothing was sent")


async def test_a_transport_that_reports_nothing_may_have_sent() -> None:
    """A mock, or a transport of another library: whether it has written anything is not known."""

    async def hangs(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(1e9)
        return httpx.Response(200)

    transport = BackoffTransport(httpx.MockTransport(hangs), policy=SHORT)
    with pytest.raises(DeadlineExceededError, match="1 request was sent") as raised:
        await transport.handle_async_request(httpx.Request("POST", "https://service.example/"))
    assert raised.value.sent


async def test_failed_connections_are_attempts_and_no_requests() -> None:
    """The text of an error counts requests that were sent; `attempts` counts every attempt."""
    refused = iter([httpx.ConnectError("x")] * 2)

    async def respond(_: httpx.Request) -> httpx.Response:
        for error in refused:
            raise error
        return httpx.Response(429, headers={"retry-after": "0.1"})

    policy = BackoffPolicy(base_delay=0.0)
    transport = BackoffTransport(httpx.MockTransport(respond), policy=policy)
    call = asyncio.create_task(transport.handle_async_request(httpx.Request("POST", "https://service.example/")))
    await asyncio.sleep(0.05)
    await transport.aclose()
    with pytest.raises(NotSentError, match="the client was closed; 1 request was sent") as raised:
        await call
    assert raised.value.attempts == 3


async def test_the_trace_extension_of_the_caller_still_receives_each_event() -> None:
    """An httpx client may pass one; the client reads the same events beside it."""
    events: list[str] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        events.append(event)

    async with RawServer(raw_response(b"{}")) as server:
        transport = BackoffTransport(httpx.AsyncHTTPTransport(), policy=SHORT)
        async with httpx.AsyncClient(transport=transport) as client:
            assert (await client.get(server.address, extensions={"trace": trace})).status_code == 200
    assert {"connection.connect_tcp.started", "http11.send_request_headers.started"} <= set(events)


async def test_a_call_that_had_an_effect_and_connects_again_ends_with_its_state() -> None:
    """Closing ends it before its retry, as in the delay before one."""
    lost = iter([httpx.ReadError("x")])

    class Network(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            for error in lost:
                raise error
            await request.extensions["trace"]("connection.connect_tcp.started", {})
            await asyncio.sleep(1e9)
            raise AssertionError

    transport = BackoffTransport(Network(), policy=BackoffPolicy(base_delay=0.0))
    call = asyncio.create_task(transport.handle_async_request(httpx.Request("GET", "https://service.example/")))
    await asyncio.sleep(0.05)
    await transport.aclose()
    with pytest.raises(StateError, match="closed before a retry; 1 request was sent, and may have had an effect"):
        await call
