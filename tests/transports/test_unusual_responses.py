"""Responses that are unusual or malformed end alike in each way of sending, in whatever segments they arrive."""

import pytest
from itwin_platform import OutcomeUnknownError, ResponseDecodeError

from tests.support.every_way import RejectedError, in_every_way, opened
from tests.support.raw_server import ACCOUNT, DETECTOR, REJECTED, Raw, RawServer, raw_response

LENGTH = len(ACCOUNT)
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (LENGTH, ACCOUNT)
UNUSUAL = {
    "400 headers": raw_response(head=b"HTTP/1.1 200 OK" + b"".join(b"\r\nx-%d: v" % number for number in range(400))),
    "a header of 100,000 bytes": raw_response(head=b"HTTP/1.1 200 OK\r\nlink: " + b"x" * 100_000),
    "a length beside chunks": b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n" + CHUNKS,
    "interim responses": b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    + raw_response(),
    "lines without a carriage return": raw_response().replace(b"\r\n", b"\n"),
}


@pytest.mark.parametrize("by_byte", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL)
@in_every_way
async def test_an_unusual_response_is_accepted(way: str, data: bytes, by_byte: bool) -> None:
    """A response that httpx accepts is accepted in every way of sending, and its connection stays usable."""
    by_byte = by_byte and len(data) < 1000
    async with RawServer(Raw(data=data, by_byte=by_byte), REJECTED) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        with pytest.raises(RejectedError, match="422"):
            await calls.post()
        assert server.connections_accepted == 1


CHUNKED = b"\r\ntransfer-encoding: chunked\r\n\r\n"
MALFORMED = {
    "no HTTP": b"HTTX/9 nonsense\r\n\r\n",
    "the size of a chunk": b"HTTP/1.1 201 Created" + CHUNKED + b"4c bytes\r\n" + DETECTOR + b"\r\n0\r\n\r\n",
    "no size of a chunk": b"HTTP/1.1 201 Created" + CHUNKED + b"zz\r\n",
    "the end of a chunk": b"HTTP/1.1 201 Created" + CHUNKED + b"2\r\n" + DETECTOR + b"\r\n0\r\n\r\n",
    "lengths that differ": raw_response(DETECTOR, head=b"HTTP/1.1 201 Created\r\nContent-Length: 3"),
    "no length": b"HTTP/1.1 201 Created\r\ncontent-length: many\r\n\r\n" + DETECTOR,
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "an endless header": b"HTTP/1.1 201 Created\r\nlink: " + b"x" * 300_000,
    "endless headers": b"HTTP/1.1 201 Created\r\n" + b"link: x\r\n" * 40_000,
}


@pytest.mark.parametrize("by_byte", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
@in_every_way
async def test_a_malformed_response_ends_the_attempt_at_once(way: str, data: bytes, by_byte: bool) -> None:
    """A malformed response to a POST raises OutcomeUnknownError, and its connection is not used again."""
    step = Raw(data=data, by_byte=by_byte and len(data) < 1000)
    async with RawServer(step, REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError):
            await calls.post()
        with pytest.raises(RejectedError, match="422"):
            await calls.post()
        assert (len(server.requests), server.connections_accepted) == (2, 2)


BROKEN_ERRORS = {
    "malformed": Raw(data=b"HTTP/1.1 422 Unprocessable Content" + CHUNKED + b"zz\r\n"),
    "malformed later": Raw(data=b"HTTP/1.1 422 Unprocessable Content" + CHUNKED + b"2\r\n{}\r\nzz\r\n", by_byte=True),
    "cut": Raw(data=REJECTED[:-1], closes=True),
    "reset": Raw(data=REJECTED[:-1], resets=True),
}


@pytest.mark.parametrize("response", BROKEN_ERRORS.values(), ids=BROKEN_ERRORS)
@in_every_way
async def test_an_error_status_counts_whatever_its_body_is(way: str, response: Raw) -> None:
    """When the body of an error response is malformed or breaks off, the status is still the outcome of the call."""
    # A hook or a transport of the caller that reads the response itself fails where it reads.
    reads_itself = way in ("http_client", "wrapped")
    async with RawServer(response) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError if reads_itself else RejectedError):
            await calls.post()
        assert len(server.requests) == 1


@in_every_way
async def test_a_success_without_content_is_final(way: str) -> None:
    """A 204 with a body, which HTTP does not allow, is a success that cannot be decoded: the POST had its effect."""
    response = raw_response(DETECTOR, head=b"HTTP/1.1 204 No Content")
    async with RawServer(response) as server, opened(way, server.address) as calls:
        with pytest.raises((ResponseDecodeError, ValueError)):
            await calls.post()
        assert len(server.requests) == 1


@in_every_way
async def test_a_body_that_ends_in_a_reset_is_not_complete(way: str) -> None:
    """A body without a length ends with its connection: after a reset it is incomplete, and a GET is retried."""
    cut = b"HTTP/1.1 200 OK\r\n\r\n" + ACCOUNT[:-1]
    async with RawServer(Raw(data=cut, resets=True), raw_response()) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        assert len(server.requests) == 2
