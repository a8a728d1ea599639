"""A service on loopback that sends prepared bytes, for tests of the network."""

import asyncio
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from socket import SO_LINGER, SOL_SOCKET
from typing import Self

import httpx

from tests.support.exchange import PreparedResponse, ReceivedRequest, Script, now

ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account"}}'
DETECTOR = b'{"detector": {"name": "d-1", "type": "PhotoObjectDetector", "versions": []}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Bytes as they are; afterwards the connection stays open, is closed, or is reset.

    `then` is a second write: over TLS a second record, possibly in the same segment.
    """

    data: bytes
    then: bytes = b""
    closes: bool = False
    resets: bool = False


#: What the server sends: a response, or bytes as they are. Plain bytes without a complete head end the connection.
Step = PreparedResponse | Raw | bytes


def raw_response(body: bytes = ACCOUNT, *, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Return the bytes of a response; `head` is its status line and any header lines."""
    return b"%s\r\ncontent-length: %d\r\n\r\n%s" % (head, len(body), body)


#: A response without a request: a client that returns it has read surplus bytes.
PHANTOM = raw_response(
    b'{"detector": {"name": "phantom", "type": "PhotoObjectDetector"}}', head=b"HTTP/1.1 201 Created"
)
REJECTED = raw_response(b"{}", head=b"HTTP/1.1 422 Unprocessable Content")


def either_response(request: ReceivedRequest) -> bytes:
    """Return the account to a GET, a detector to a POST."""
    return raw_response() if request.method == "GET" else raw_response(DETECTOR, head=b"HTTP/1.1 201 Created")


def plain_transport() -> httpx.AsyncHTTPTransport:
    """Return a transport without certificates, whose loading would hold up the event loop, and without a limit."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx.AsyncHTTPTransport(verify=False, limits=limits)


class RawServer:
    """Listens from `async with` to its end, takes the next step for each request, and records the requests."""

    def __init__(self, *steps: Step | Callable[[ReceivedRequest], Step], context: ssl.SSLContext | None = None) -> None:
        self._script = Script[Step](*steps)
        self._context = context
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.connections_accepted = 0
        self.requests: list[ReceivedRequest] = []
        self.port = 0
        #: Is set when a connection has ended.
        self.ended = asyncio.Event()
        self._arrived = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http{'s' if self._context else ''}://127.0.0.1:{self.port}"

    @property
    def transport(self) -> httpx.AsyncBaseTransport:
        """What sends to it."""
        return plain_transport()

    @property
    def open_connections(self) -> int:
        """Connections that have not ended."""
        return len(self._connections)

    def push(self, data: bytes) -> None:
        """Send bytes without a request on every open connection; on loopback they arrive immediately."""
        for writer in self._writers:
            writer.write(data)

    def close_connections(self) -> None:
        """Close every open connection from this side."""
        for writer in self._writers:
            writer.close()

    async def received(self, number: int) -> None:
        """Wait until so many requests have arrived."""
        while len(self.requests) < number:
            self._arrived.clear()
            await self._arrived.wait()

    async def quiet(self) -> None:
        """Wait until every connection has ended."""
        while self._connections:
            await asyncio.wait(self._connections)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections_accepted += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _receive(reader)) is not None:
                self.requests.append(request)
                self._arrived.set()
                if not await _deliver(self._script.step(request), writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client went away; what it had sent is recorded
        finally:
            self._writers.discard(writer)
            self.ended.set()
            writer.close()


async def _receive(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    first = await reader.read(1)
    if not first:
        return None
    at = now()
    head = first + await reader.readuntil(b"\r\n\r\n")
    line, *fields = head[:-4].split(b"\r\n")
    pairs = [(name, value.strip()) for name, _, value in (field.partition(b":") for field in fields)]
    headers = httpx.Headers(pairs)
    method, target, _ = line.decode("latin-1").split(" ")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return ReceivedRequest(at=at, method=method, target=target, headers=headers, body=body)


async def _deliver(step: Step, writer: asyncio.StreamWriter) -> bool:
    """Send what the step says, and return whether the connection stays open."""
    if isinstance(step, bytes):
        writer.write(step)
        await writer.drain()
        return b"\r\n\r\n" in step
    if isinstance(step, Raw):
        writer.write(step.data)
        writer.write(step.then)
        await writer.drain()
        if step.resets:
            await asyncio.sleep(0)  # the client reads
            await asyncio.sleep(0)
            _reset(writer)
        return not (step.closes or step.resets)
    await asyncio.sleep(step.delay)
    if step.fault == "hang":
        await asyncio.Event().wait()
    if step.fault == "reset":
        _reset(writer)
        return False
    lines = [f"HTTP/1.1 {step.status} {httpx.codes.get_reason_phrase(step.status)}"]
    lines += [f"{name}: {value}" for name, value in {"content-length": len(step.body), **step.headers}.items()]
    body = step.body[: len(step.body) // 2] if step.fault == "cut" else step.body
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()
    return step.fault is None


def _reset(writer: asyncio.StreamWriter) -> None:
    """Make the end of the connection a reset."""
    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
