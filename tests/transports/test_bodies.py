"""Response heads and bodies: each way of sending decodes them alike."""

import gzip
import zlib

import pytest
from itwin_platform import ResponseDecodeError

from tests.support.every_way import in_every_way, opened
from tests.support.raw_server import ACCOUNT, RawServer, either_response, raw_response


@in_every_way
async def test_a_call_sends_one_request(way: str) -> None:
    """A call sends one request, even when an event hook or a transport has read the response already."""
    async with RawServer(either_response) as server, opened(way, server.address) as calls:
        assert (await calls.get(), await calls.post()) == ("a-1", "d-1")
        assert [request.method for request in server.requests] == ["GET", "POST"]


def deflated(*, with_header: bool) -> bytes:
    """Return the account, deflated."""
    squeeze = zlib.compressobj(wbits=zlib.MAX_WBITS if with_header else -zlib.MAX_WBITS)
    return squeeze.compress(ACCOUNT) + squeeze.flush()


ENCODED = {
    "gzip": (b"gzip", gzip.compress(ACCOUNT)),
    "gzip, padded with zeros": (b"gzip", gzip.compress(ACCOUNT) + bytes(700)),
    "deflate": (b"deflate", deflated(with_header=True)),
    "deflate without a header": (b"deflate", deflated(with_header=False)),
    "gzip of deflate": (b"deflate, gzip", gzip.compress(deflated(with_header=True))),
}


@pytest.mark.parametrize(("encoding", "body"), ENCODED.values(), ids=ENCODED)
@in_every_way
async def test_gzip_and_deflate_are_decoded(way: str, encoding: bytes, body: bytes) -> None:
    """Bodies in gzip and deflate are decoded, alone or one on top of the other."""
    response = raw_response(body, head=b"HTTP/1.1 200 OK\r\ncontent-encoding: " + encoding)
    async with RawServer(response) as server, opened(way, server.address) as calls:
        assert await calls.get() == "a-1"
        assert len(server.requests) == 1


BOMB = b'{"iTwin": {"id": "' + bytes(5_000_000) + b'"}}'
BOMBS = {"gzip": gzip.compress(BOMB), "deflate": zlib.compress(BOMB)}


@pytest.mark.parametrize("encoding", BOMBS)
@in_every_way
async def test_a_body_is_rejected_by_its_decoded_size(way: str, encoding: str) -> None:
    """A small body that decodes to more than `max_response_bytes` raises ResponseDecodeError."""
    if way == "plain":
        pytest.skip("an ordinary client decodes without a limit, as httpx does")
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}".encode()
    async with (
        RawServer(raw_response(BOMBS[encoding], head=head)) as server,
        opened(way, server.address, max_response_bytes=100_000) as calls,
    ):
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 100000 bytes"):
            await calls.get()
