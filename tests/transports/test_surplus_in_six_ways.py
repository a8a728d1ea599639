"""Surplus bytes on a connection are never read as the next response, in each way of sending."""

import asyncio

import pytest
from itwin_platform import ResponseDecodeError

from tests.support.every_way import RejectedError, in_every_way, opened
from tests.support.raw_server import ACCOUNT, PHANTOM, REJECTED, RawServer, raw_response

GOOD = raw_response()
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(ACCOUNT), ACCOUNT)


SURPLUS = {
    "half a response": GOOD + PHANTOM[:20],
    "chunked and a second response": CHUNKED + PHANTOM,
    "a second response": GOOD + PHANTOM,
    "one byte": GOOD + b"\n",
    "malformed bytes": GOOD + b"HTTX/9 nonsense\r\n\r\n",
    "malformed bytes after chunks": CHUNKED + b"\0\0\0",
}


@pytest.mark.parametrize("data", SURPLUS.values(), ids=SURPLUS)
@in_every_way
async def test_a_connection_with_surplus_bytes_is_not_used_again(way: str, data: bytes) -> None:
    """When anything follows a response, the next request uses another connection."""
    async with RawServer(data, REJECTED) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        with pytest.raises(RejectedError, match="422"):
            await calls.post()
        assert len(server.requests) == 2


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
@in_every_way
async def test_a_body_where_none_is_allowed_is_not_the_next_response(way: str, status: bytes) -> None:
    """The body of a 204 or 304 is not read as the next response."""
    first = b"HTTP/1.1 " + status + b"\r\ncontent-length: %d\r\n\r\n%s" % (len(PHANTOM), PHANTOM)
    async with RawServer(first, REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises((RejectedError, ResponseDecodeError, ValueError)):
            await calls.get()
        with pytest.raises(RejectedError, match="422"):
            await calls.post()


@in_every_way
async def test_bytes_between_two_requests_are_never_the_next_response(way: str) -> None:
    """Surplus bytes that arrive between two requests are noticed before the connection is used again."""
    async with RawServer(GOOD, REJECTED, GOOD, REJECTED) as server, opened(way, server.address) as calls:
        for rounds in (0, 3):
            await calls.get()
            server.push(PHANTOM)
            for _ in range(rounds):
                await asyncio.sleep(0)
            with pytest.raises(RejectedError, match="422"):
                await calls.post()
