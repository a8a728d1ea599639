"""The error of a call that its deadline or closing ends says whether its request was written."""

import asyncio
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from typing import Any

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    DeadlineExceededError,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    TransportError,
)
from itwin_platform_transport import BackoffTransport

from tests.support.every_route import by_every_route, opened, post
from tests.support.networks import authority
from tests.support.services import PreparedResponse, RawServer, raw_response

#: Long enough for a request to be written on a busy machine; the call then hangs until its deadline.
SHORT = BackoffPolicy(deadline=0.3)
ENDS = {"deadline": SHORT, "closing": BackoffPolicy()}
#: A phase in which an attempt hangs: the arguments of the client, and a wait until the attempt is in this phase.
Stage = tuple[Mapping[str, Any], Callable[[], Awaitable[object]]]


async def ended(client: PlatformClient, end: str, has_begun: Callable[[], Awaitable[object]]) -> TransportError:
    """Return the error of a POST that its deadline or the closing of the client ends."""
    call = asyncio.create_task(post(client))
    if end == "closing":
        await has_begun()
        await client.aclose()
    with pytest.raises(DeadlineExceededError if end == "deadline" else TransportError) as raised:
        await call
    return raised.value


async def soon() -> None:
    """Wait until an attempt connects."""
    await asyncio.sleep(0.05)


@asynccontextmanager
async def response(_: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """The service reads the request, and does not respond."""
    async with RawServer(PreparedResponse(fault="hang")) as server:
        yield {"address": server.address}, lambda: server.received(1)


@asynccontextmanager
async def connection(_: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """The address neither accepts nor rejects a connection: its backlog is full."""
    if sys.platform != "linux":
        pytest.skip("other systems reject a connection when the queue is full")
    with ExitStack() as stack:
        server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _number in range(4):
            waiting = stack.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield {"address": f"http://127.0.0.1:{server.getsockname()[1]}"}, soon


@asynccontextmanager
async def resolver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """The lookup of the host does not end."""

    async def getaddrinfo(*_: object, **__: object) -> object:
        return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    yield {"ssl_context": ssl.create_default_context(cadata=authority())}, soon


@asynccontextmanager
async def certificates(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """Reading the default certificates does not end."""
    go_on = threading.Event()

    def create_ssl_context(**_: object) -> ssl.SSLContext:
        go_on.wait()
        return ssl.create_default_context(cadata=authority())

    monkeypatch.setattr(httpx, "create_ssl_context", create_ssl_context)
    try:
        yield {}, soon
    finally:
        go_on.set()


@asynccontextmanager
async def certificates_for_a_proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """Reading the default certificates does not end, and a proxy applies."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    async with certificates(monkeypatch) as stage:
        yield stage


@asynccontextmanager
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """The proxy accepts the connection, and does not respond to CONNECT."""
    async with RawServer(PreparedResponse(fault="hang")) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.address)
        yield {"ssl_context": ssl.create_default_context(cadata=authority())}, lambda: server.received(1)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("stage", [response, connection])
@by_every_route
async def test_a_request_counts_as_sent_if_it_was_written(route: str, stage: Any, end: str) -> None:
    """A written request may have had an effect. One without a connection had none, and counts as no attempt."""
    was_sent = stage is response
    async with (
        stage(pytest.MonkeyPatch()) as (settings, has_begun),
        opened(route, **settings, backoff=ENDS[end]) as client,
    ):
        error = await ended(client, end, has_begun)
    assert (error.sent, error.attempts) == (was_sent, int(was_sent))
    assert str(error).endswith("1 request was sent" if was_sent else "; nothing was sent")
    if end == "closing":
        assert type(error) is (OutcomeUnknownError if was_sent else NotSentError)


@pytest.mark.parametrize("stage", [resolver, certificates, certificates_for_a_proxy, proxy])
@pytest.mark.parametrize("end", [*ENDS, "connect timeout"])
async def test_nothing_is_sent_before_there_is_a_connection(
    stage: Any, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the default transport waits for anything before a connection, a POST has no effect."""
    monkeypatch.setenv("NO_PROXY", "")
    async with stage(monkeypatch) as (settings, has_begun):
        if end == "connect timeout":
            # The read timeout applies to the response of a proxy to CONNECT.
            settings |= {"timeout": httpx.Timeout(30.0, connect=0.1, read=0.1)}
        policy = ENDS.get(end, BackoffPolicy(max_attempts=1))
        async with opened("default", "https://service.invalid", backoff=policy, **settings) as client:
            if end == "connect timeout":
                with pytest.raises(NotSentError, match=r"after 1 attempt; nothing was sent \((Connect|Read)Timeout"):
                    await post(client)
            else:
                error = await ended(client, end, has_begun)
                assert (error.sent, error.attempts) == (False, 0)
                assert str(error).endswith("; nothing was sent")


async def test_the_trace_extension_of_the_caller_receives_each_event() -> None:
    """The transport reads the events of httpcore, and passes them on to the `trace` extension of a request."""
    events: list[str] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        events.append(event)

    async with RawServer(raw_response(b"{}")) as server:
        transport = BackoffTransport(httpx.AsyncHTTPTransport(), policy=SHORT)
        async with httpx.AsyncClient(transport=transport) as client:
            assert (await client.get(server.address, extensions={"trace": trace})).status_code == 200
    assert {"connection.connect_tcp.started", "http11.send_request_headers.started"} <= set(events)
