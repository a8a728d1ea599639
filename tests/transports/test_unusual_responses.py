"""Responses that are malformed or break off end alike in each way of sending."""

import pytest
from itwin_platform import OutcomeUnknownError, ResponseDecodeError

from tests.support.every_way import RejectedError, in_every_way, opened
from tests.support.raw_server import ACCOUNT, DETECTOR, REJECTED, Raw, RawServer, raw_response

CHUNKED = b"\r\ntransfer-encoding: chunked\r\n\r\n"


@in_every_way
async def test_a_malformed_response_ends_the_attempt_at_once(way: str) -> None:
    """A malformed response to a POST raises OutcomeUnknownError, and its connection is not used again."""
    async with RawServer(b"HTTX/9 nonsense\r\n\r\n", REJECTED) as server, opened(way, server.address) as calls:
        with pytest.raises(OutcomeUnknownError):
            await calls.post()
        with pytest.raises(RejectedError, match="422"):
            await calls.post()
        assert (len(server.requests), server.connections_accepted) == (2, 2)


BROKEN_ERRORS = {
    "malformed": Raw(data=b"HTTP/1.1 422 Unprocessable Content" + CHUNKED + b"zz\r\n"),
    "malformed later": Raw(data=b"HTTP/1.1 422 Unprocessable Content" + CHUNKED + b"2\r\n{}\r\nzz\r\n"),
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
