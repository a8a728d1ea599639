"""Clients that send slowly, hold bodies, or send nonsense, and what others notice of them."""

import asyncio

import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._server.endpoint import LARGE_BODY_BYTES, MOST_BODY_BYTES, MOST_LARGE_BODIES, Bodies
from itwin_platform_sandbox._server.server import LoopServer
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

HEAD = b"POST /scenes/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"


async def echo(_: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a request and responds."""
    while (await receive()).get("more_body", False):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.mark.parametrize(
    "begins",
    [b"P", HEAD, HEAD + b"Content-Length: 9\r\n\r\n{", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
    ids=["a letter", "half a head", "half a body", "half of the chunks"],
)
async def test_a_request_that_does_not_arrive_in_time_is_closed(begins: bytes) -> None:
    """408 and the end of the connection, however much of the request has come."""
    server = LoopServer(host="127.0.0.1", port=0, receive_seconds=0.05)
    await server.start(echo)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(begins)
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 408 ")
        writer.close()
        assert server.connections == set()
    finally:
        await server.stop()


async def test_time_counts_for_each_request_of_a_connection() -> None:
    """A connection serves one request after the other; the second half of a later one is waited for no longer."""
    server = LoopServer(host="127.0.0.1", port=0, receive_seconds=0.2)
    await server.start(echo)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(3):
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
        writer.write(HEAD)
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 408 ")
        writer.close()
    finally:
        await server.stop()


async def test_bodies_in_flight_are_bounded_together() -> None:
    """Beyond a number of large bodies others wait, small ones do not, and each is read in the end."""
    bodies, entered, released = Bodies(), 0, asyncio.Event()

    def receiving(size: int) -> Receive:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"x" * size, "more_body": False}

        return receive

    async def hold(size: int) -> None:
        nonlocal entered
        async with bodies.read(receiving(size)) as body:
            assert body == b"x" * size
            entered += 1
            await released.wait()

    large = [asyncio.create_task(hold(LARGE_BODY_BYTES + 1)) for _ in range(MOST_LARGE_BODIES + 5)]
    small = asyncio.create_task(hold(10))
    for _ in range(10):
        await asyncio.sleep(0)
    assert entered == MOST_LARGE_BODIES + 1
    released.set()
    await asyncio.gather(*large, small)
    assert entered == MOST_LARGE_BODIES + 6


async def test_a_body_that_is_too_large_or_ends_early_is_not_kept() -> None:
    """A body above the limit is None, and a client that leaves raises an error."""
    pieces: list[Message] = [{"type": "http.request", "body": b"x" * (MOST_BODY_BYTES + 1), "more_body": True}]

    async def receive() -> Message:
        return pieces.pop() if pieces else {"type": "http.disconnect"}

    async with Bodies().read(receive) as body:
        assert body is None
    with pytest.raises(ClientDisconnect):
        await Bodies().read(receive).__aenter__()


async def test_a_rejected_host_with_a_malformed_chunk_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The request is read to its end before the response, so it gets one response: that of the malformed chunk."""
    async with Sandbox(itwins=1) as sandbox:
        reader, writer = await asyncio.open_connection("127.0.0.1", sandbox._running.server.port)
        writer.write(b"POST / HTTP/1.1\r\nHost: evil.example\r\nTransfer-Encoding: chunked\r\n\r\n")
        await writer.drain()
        writer.write(b"not a size\r\n")
        received = await reader.read()
        writer.close()
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1") == 1
    assert caplog.text == ""
