"""Compare how the engine and httpx, which uses h11, read valid, unusual and broken responses."""

import asyncio
import random
import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx
from httpcore._async.http11 import AsyncHTTP11Connection
from itwin_platform_transport.connections.connection import Connection

from .figure import Figure, exactly, for_comparison

#: The method of a request, and the segments in which its response arrives.
Message = tuple[str, list[bytes]]

BODY = b'{"a":1}'
#: Known reasons why one parser rejects a response that the other accepts, by parser and text of its error.
KNOWN: dict[tuple[str, str], str] = {
    ("engine", "Duplicate Content-Length"): "a repeated length may be rejected: RFC 9110, section 8.6",
    ("engine", "Invalid character in Content-Length"): "a list of lengths may be rejected: RFC 9110, section 8.6",
    ("engine", "Invalid HTTP version"): "there is no such version of HTTP",
    ("engine", "an interim response came with a body"): "an interim response has no body: RFC 9110, section 15.2",
    ("engine", "Invalid header value char"): "a value has no control characters: RFC 9110, section 5.5",
    ("engine", "Unexpected whitespace after header value"): "a header has one line: RFC 9112, section 5.2",
    ("engine", "Invalid character in chunk extensions"): "an extension has no such characters: RFC 9112, section 7.1.1",
    (
        "h11",
        "malformed chunk footer",
    ): "a chunk may end without a carriage return, as a line may: RFC 9112, section 2.2",
    (
        "h11",
        "illegal chunk header",
    ): "a chunk's size may end without a carriage return, or with spaces before an extension: RFC 9112, 2.2 and 7.1.1",
    ("h11", "Only Transfer-Encoding: chunked"): "the encoding of an absent body does not matter",
    ("h11", "illegal status line"): "the text in place of a reason phrase does not matter",
    ("h11", "no response line received"): "empty lines before a response are skipped: no response begins in them",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Wire(asyncio.Transport):
    """A transport that sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False

    def write(self, data: object) -> None:
        """Drop the data."""

    def abort(self) -> None:
        """Record that the connection closed this transport."""
        self.is_over = True

    def is_closing(self) -> bool:
        """Return whether `abort` was called."""
        return self.is_over

    def pause_reading(self) -> None:
        """Everything has arrived already."""

    def resume_reading(self) -> None:
        """Everything has arrived already."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return this object in place of the socket."""
        return self if name == "socket" else default

    def fileno(self) -> int:
        """Return the descriptor of an open file."""
        return 0


async def by_engine(method: str, segments: Iterable[bytes]) -> Parsed | str:
    """Parse a response and the end of its connection with the engine; return the response, or the text of the error."""
    connection, wire = Connection(origin=None), Wire()
    connection.connection_made(wire)

    async def arrive() -> None:
        for segment in segments:
            if not wire.is_over:
                connection.data_received(segment)
        if not wire.is_over:
            connection.eof_received()
        connection.connection_lost(None)

    arriving = asyncio.ensure_future(arrive())
    try:
        await connection.send(f"{method} / HTTP/1.1\r\n\r\n".encode(), b"", {})
        body = b""
        while data := await connection.read(None):
            body += data
    except httpx.TransportError as error:
        return str(error)
    finally:
        await arriving
    return Parsed(connection.status, _without_framing(connection.headers), body)


class Stream(httpcore.AsyncNetworkStream):
    """A stream of httpcore on which a response has arrived."""

    def __init__(self, segments: Iterable[bytes]) -> None:
        self._segments = deque(segments)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  # httpcore's signature
        """Return the next segment."""
        if not self._segments:
            return b""
        segment = self._segments.popleft()
        if len(segment) > max_bytes:
            self._segments.appendleft(segment[max_bytes:])
        return segment[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  # httpcore's signature
        """Send nothing."""

    async def aclose(self) -> None:
        """Close nothing."""


async def by_h11(method: str, segments: Iterable[bytes]) -> Parsed | str:
    """Parse the same response with httpcore and h11."""
    origin = httpcore.Origin(b"http", b"h", 80)
    connection = AsyncHTTP11Connection(origin=origin, stream=Stream(segments))
    try:
        request = httpcore.Request(method, "http://h/", headers=[(b"Host", b"h")])
        response = await connection.handle_async_request(request)
        if response.status == 101:
            return "101"
        assert not isinstance(response.stream, Iterable)
        body = b"".join([part async for part in response.stream])
    except (httpcore.ProtocolError, httpcore.NetworkError) as error:
        return str(error)
    return Parsed(response.status, _without_framing(response.headers), body)


def _without_framing(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return headers in lower case without the framing headers, which h11 changes."""
    pairs = [(name.lower(), value) for name, value in headers]
    return [pair for pair in pairs if pair[0] not in (b"content-length", b"transfer-encoding")]


class Messages:
    """A generator of responses from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def segments(self) -> Message:
        """Return the method of a request and the segments of its response."""
        chance = self._random
        data = self._interim() * (chance.random() < 0.1) + self._response()
        if chance.random() < 0.1:
            data += chance.choice([self._response(), b"\r\n", b"x", b"HTTP/1.1 200"])
        if chance.random() < 0.4:
            data = self._mutated(data)
        cuts = sorted(chance.sample(range(len(data) + 1), min(len(data), chance.choice([0, 0, 1, 2, 5]))))
        if chance.random() < 0.1:
            cuts = list(range(1, min(len(data), 400)))
        parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        return chance.choice(["GET"] * 6 + ["POST", "HEAD"]), [part for part in parts if part]

    def _interim(self) -> bytes:
        """Return an interim response, in half of the cases with a body, which HTTP does not allow."""
        chance = self._random
        status = chance.choice([100, 102, 103, 104, chance.randrange(102, 200)])
        framing, body = self._body() if chance.random() < 0.5 else ([], b"")
        lines = [b"HTTP/1.1 %d Early" % status, b"link: a", *framing, b"", body]
        return b"\r\n".join(lines)

    def _response(self) -> bytes:
        choose = self._random.choice
        version = choose([b"HTTP/1.1"] * 20 + [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.2", b"http/1.1", b"HTTP/1.1 "])
        status = choose(
            [b"200 OK"] * 8 + [b"204 None", b"304 Not", b"422 x", b"429 ", b"500", b"999 z", b"101 S", b"20 x"]
        )
        end = choose([b"\r\n"] * 12 + [b"\n"])
        headers = [choose(_HEADERS) for _ in range(self._random.randrange(4))]
        if self._random.random() < 0.05:
            headers.append(choose(_ILLEGAL_HEADERS))
        framing, body = self._body()
        headers += framing
        self._random.shuffle(headers)
        return version + b" " + status + end + b"".join(header + end for header in headers) + end + body

    def _body(self) -> tuple[list[bytes], bytes]:
        chance, body = self._random, self._random.choice([BODY, b"", BODY * 50, b"x" * 3000])
        kind = chance.random()
        if kind < 0.45:
            return [b"Content-Length: %d" % len(body)], body
        if kind < 0.8:
            return [chance.choice([b"Transfer-Encoding: chunked", b"transfer-encoding:Chunked"])], self._chunks(body)
        if kind < 0.9:
            return [], body
        if kind < 0.93:
            return [b"content-length: %d" % len(body)] * 2, body
        if kind < 0.95:
            return [b"content-length: %d, %d" % (len(body), len(body))], body
        if kind < 0.97:
            return [b"content-length: 3", b"transfer-encoding: chunked"], self._chunks(body)
        return [chance.choice(_ODD_FRAMING)], body

    def _chunks(self, body: bytes) -> bytes:
        chance, chunks = self._random, b""
        while body:
            size, extension = (
                chance.randrange(1, len(body) + 1),
                chance.choice([b""] * 8 + [b";a=b", b' ; q="1"', b" "]),
            )
            chunks += b"%x" % size + extension + b"\r\n" + body[:size] + b"\r\n"
            body = body[size:]
        return chunks + chance.choice([b"0\r\n\r\n"] * 6 + [b"0\r\nx-t: 1\r\n\r\n", b"00\r\n\r\n", b"0;x\r\n\r\n"])

    def _mutated(self, data: bytes) -> bytes:
        chance, changed = self._random, bytearray(data)
        for _ in range(chance.choice([1, 1, 2, 3])):
            at, kind = chance.randrange(len(changed)), chance.random()
            if kind < 0.3:
                changed[at] = chance.randrange(256)
            elif kind < 0.5:
                del changed[at : at + chance.randrange(1, 5)]
            elif kind < 0.7:
                changed[at:at] = chance.choice([b"\r", b"\n", b"\r\n", b" ", b":", b"\0", b"0", b"\t", b";"])
            elif kind < 0.85:
                del changed[at:]
            else:
                changed[at:at] = changed[max(0, at - 9) : at]
            if not changed:
                return b"x"
        return bytes(changed)


_HEADERS = [
    *(
        b"X-A: 1",
        b"x-b:  two  ",
        b"x-c:",
        b"x-d: \xe9",
        b"Connection: close",
        b"connection: keep-alive",
        b"Set-Cookie: a=b",
    ),
    *(b"x-e: a\tb", b"link: <x>", b"keep-alive: timeout=5", b"Upgrade: h2c", b"Trailer: x-t"),
]
_ILLEGAL_HEADERS = [
    *(b"x f: 1", b": 1", b"noval", b"x-g: a\0b", b"x-h: a\rb", b" fold", b"x-i : 1", b"x-j: \x01", b"x\xe9: 1"),
]
_ODD_FRAMING = [
    *(b"content-length: +7", b"content-length: 7x", b"content-length: ", b"content-length: -1"),
    *(b"content-length: 99999999999999999999999", b"transfer-encoding: gzip", b"transfer-encoding: gzip, chunked"),
    b"content-length: 7\r\ncontent-length: 8",
]


def reason_for(rejected_by: str, text: str) -> str | None:
    """Return the known reason why a parser rejects a response, or None."""
    for (parser, pattern), reason in KNOWN.items():
        if parser == rejected_by and re.search(pattern, text):
            return reason
    return None


async def compared(messages: Iterable[Message]) -> tuple[Counter[str], list[str]]:
    """Return the number of responses of each result, and a line for each difference without a known reason."""
    found: Counter[str] = Counter()
    unknown: list[str] = []
    for method, segments in messages:
        engine, h11 = await by_engine(method, segments), await by_h11(method, segments)
        if isinstance(engine, Parsed) and isinstance(h11, Parsed):
            found["accepted by both"] += 1
            if engine != h11:
                unknown.append(f"differs: {method} {segments!r}: {engine} {h11}")
        elif isinstance(engine, str) and isinstance(h11, str):
            found["rejected by both"] += 1
        else:
            parser, text = ("engine", engine) if isinstance(engine, str) else ("h11", str(h11))
            reason = reason_for(parser, str(text))
            found[f"rejected by {parser}: {reason}"] += 1
            if reason is None:
                unknown.append(f"rejected by {parser} ({text}): {method} {segments!r}")
    return found, unknown


async def parsing(*, messages: int = 15_000) -> list[Figure]:
    """Compare the results of both parsers."""
    made = Messages(seed=7)
    found, unknown = await compared(made.segments() for _ in range(messages))
    return figures_of(f"of {messages:,} responses, valid, unusual and broken", found, unknown)


def figures_of(name: str, found: Counter[str], unknown: list[str]) -> list[Figure]:
    """Return the figures of a comparison."""
    return [
        exactly(
            f"{name}: read differently by the engine and by httpx, or rejected by one of them for an unknown reason",
            len(unknown),
            0,
        ),
        *(for_comparison(f"{name}: {kind}", count) for kind, count in found.most_common()),
    ]
