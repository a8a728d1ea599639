"""`fast_transport()` sends large bodies in pieces and merges repeated Content-Length headers."""

import asyncio

import pytest
from itwin_platform._transports.aiohttp import _pieces
from itwin_platform._transports.connections.aiohttp_connector import _Received

BODY = bytes(range(256)) * 600


async def test_each_piece_of_a_body_has_the_time_limit_anew_and_the_response_has_none() -> None:
    """A limit runs while pieces are sent, and ends with the last of them: the response has a limit of its own."""
    async with asyncio.timeout(None) as limit:
        pieces, running = [], []
        async for piece in _pieces(BODY, limit, 60.0):
            pieces.append(piece)
            running.append(limit.when())
        assert limit.when() is None
    assert b"".join(pieces) == BODY
    assert [len(piece) for piece in pieces] == [65_536, 65_536, 22_528]
    assert None not in running


async def test_a_body_is_sent_completely_after_an_early_response() -> None:
    """When the service responds before the end of the body, the rest is still sent."""
    async with asyncio.timeout(None) as limit:
        pieces = _pieces(BODY, limit, 60.0)
        received = [await anext(pieces)]
    received += [piece async for piece in pieces]
    assert b"".join(received) == BODY


class Protocol:
    """What reads responses, and keeps what it was handed."""

    def __init__(self) -> None:
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Keep it."""
        self.received += data


@pytest.mark.parametrize(
    ("lengths", "handed_on"),
    [
        (b"Content-Length: 2\r\ncontent-length:2", b"content-length: 2"),
        (b"Content-Length: 2\r\ncontent-length: 3", b"Content-Length: 2\r\ncontent-length: 3"),
    ],
    ids=["equal", "different"],
)
def test_only_equal_lengths_become_one(lengths: bytes, handed_on: bytes) -> None:
    """A second, equal Content-Length is dropped; different ones reach the parser, which rejects them."""
    protocol = Protocol()
    _Received(protocol).data_received(b"HTTP/1.1 200 OK\r\n" + lengths + b"\r\n\r\n{}")
    assert protocol.received == b"HTTP/1.1 200 OK\r\n" + handed_on + b"\r\n\r\n{}"


SEGMENTS = {
    "a length": [b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nHTT", b"P/xHTTX", b"more"],
    "chunks": [b"HTTP/1.1 200 OK\r\n\r\n", b"6\r\nHTTP/x\r\n0\r\n\r\nHTTX", b"more"],
}


@pytest.mark.parametrize("segments", SEGMENTS.values(), ids=SEGMENTS)
def test_what_follows_a_response_is_handed_on_separately(segments: list[bytes]) -> None:
    """The parser has the whole response before it reads what is no HTTP, in whatever segments both arrive."""
    handed_on: list[bytes] = []

    class Handed(Protocol):
        def data_received(self, data: bytes) -> None:
            handed_on.append(data)

    protocol = _Received(Handed())
    for segment in segments:
        protocol.data_received(segment)
    assert b"".join(handed_on) == b"".join(segments)
    assert b"HTTX" in handed_on
