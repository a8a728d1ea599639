"""The default transport takes its connections back, uses them again, and closes them."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Generator
from types import coroutine
from typing import Any

import httpx
import pytest
from itwin_platform._http.connections.slots import KEEPALIVE, SlotTransport

from tests.support.counted_calls import counted_calls
from tests.support.raw_server import ACCOUNT, RawServer, raw_response


@pytest.fixture
async def transport() -> AsyncIterator[SlotTransport]:
    """The default transport, for services without encryption."""
    transport = SlotTransport(verify=False)
    yield transport
    await transport.aclose()


async def test_a_connection_that_ends_before_the_request_is_sent_is_replaced(transport: SlotTransport) -> None:
    """An idle connection that ends after it was chosen, with nothing sent on it, costs no request."""
    async with RawServer(raw_response()) as server:

        async def end_the_first(name: str, info: object) -> None:
            if name == "http11.send_request_headers.started" and server.connections_accepted == 1:
                server.close_connections()
                await server.quiet()

        first = await transport.handle_async_request(httpx.Request("GET", server.address))
        await first.aread()
        request = httpx.Request("GET", server.address, extensions={"trace": end_the_first})
        second = await transport.handle_async_request(request)
        assert await second.aread() == ACCOUNT
        assert (len(server.requests), server.connections_accepted) == (2, 2)


async def test_an_httpx_that_keeps_its_connections_elsewhere_is_rejected(
    transport: SlotTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default transport says so when it cannot hand its network to httpx."""

    class Other(httpx.AsyncBaseTransport):
        def __init__(self, **options: object) -> None:
            del options

    monkeypatch.setattr(httpx, "AsyncHTTPTransport", Other)
    with pytest.raises(RuntimeError, match="use httpx"):
        await transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:1/"))


async def test_a_response_that_is_closed_after_its_transport_gives_nothing_back(transport: SlotTransport) -> None:
    """A connection that was closed with its transport is not kept for another request."""
    async with RawServer(raw_response()) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.address))
        await transport.aclose()
        await response.aclose()
        assert repr(transport) == "SlotTransport(in_use=0, idle=0)"


async def test_a_connection_that_is_idle_for_too_long_is_closed(
    transport: SlotTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that comes back later stays open; the one that has been idle for too long does not."""
    async with RawServer(raw_response()) as server:
        request = httpx.Request("GET", server.address)
        responses = [await transport.handle_async_request(request) for _ in range(2)]
        assert repr(transport) == "SlotTransport(in_use=2, idle=0)"
        await responses[0].aread()
        loop = asyncio.get_running_loop()
        time = loop.time
        monkeypatch.setattr(loop, "time", lambda: time() + KEEPALIVE + 1.0)
        await responses[1].aread()
        assert repr(transport) == "SlotTransport(in_use=0, idle=1)"
        await server.ended.wait()


async def test_a_response_that_is_closed_twice_gives_its_connection_back_once(transport: SlotTransport) -> None:
    """Closing a body again, as a wrapper of a transport may, does not hand out one connection to two requests."""
    async with RawServer(raw_response()) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.address))
        await response.aread()
        assert isinstance(response.stream, httpx.AsyncByteStream)
        await response.stream.aclose()
        await response.stream.aclose()
        assert repr(transport) == "SlotTransport(in_use=0, idle=1)"


async def test_a_connection_whose_closing_was_cancelled_is_not_used_again(transport: SlotTransport) -> None:
    """A task that is cancelled while its response is closed leaves no busy connection for the next request."""
    async with RawServer(raw_response()) as server:
        request = httpx.Request("GET", server.address)
        for turns in range(6):
            response = await transport.handle_async_request(request)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            assert [part async for part in response.stream] == [ACCOUNT]
            closing = asyncio.create_task(response.stream.aclose())
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            assert await (await transport.handle_async_request(request)).aread() == ACCOUNT
        assert server.connections_accepted > 1


async def opened_at_once(transport: SlotTransport, address: str, number: int) -> None:
    """Open so many connections, and leave them idle."""
    request = httpx.Request("GET", address)
    responses = [await transport.handle_async_request(request) for _ in range(number)]
    for response in responses:
        await response.aread()


async def test_the_connection_that_was_used_last_is_used_first(transport: SlotTransport) -> None:
    """Connections that are not needed stay idle, so that they close."""
    async with RawServer(raw_response()) as server:
        await opened_at_once(transport, server.address, 3)
        idle = [slot for slot, _ in transport._idle]
        for _ in range(2):
            await (await transport.handle_async_request(httpx.Request("GET", server.address))).aread()
            assert [slot for slot, _ in transport._idle] == idle
        assert server.connections_accepted == 3


async def test_many_connections_cost_no_more_than_one() -> None:
    """A request makes as many function calls with 50 idle connections as with one."""
    counts: list[int] = []
    async with RawServer(raw_response()) as server:
        for number in (1, 50):
            transport = SlotTransport(verify=False)
            await opened_at_once(transport, server.address, number)
            with counted_calls() as calls:
                await (await transport.handle_async_request(httpx.Request("GET", server.address))).aread()
            counts.append(len(calls))
            await transport.aclose()
    assert counts[1] <= counts[0] * 1.1


@coroutine
def noting_waits(work: Coroutine[Any, Any, bytes], waits: list[object]) -> Generator[object, None, bytes]:
    """Run some work, and note each time that it lets other tasks run."""
    while True:
        try:
            waits.append(work.send(None))
        except StopIteration as end:
            return bytes(end.value)
        yield waits[-1]


async def test_a_request_on_an_open_connection_waits_for_its_response_only(transport: SlotTransport) -> None:
    """With many requests in flight, none of them stands half done before or after it has its response."""

    async def send() -> bytes:
        return await (await transport.handle_async_request(httpx.Request("GET", server.address))).aread()

    async with RawServer(raw_response()) as server:
        await send()
        waits: list[object] = []
        assert await noting_waits(send(), waits) == ACCOUNT
        assert len(waits) == 1
