"""Stand-ins of the service: one without a network, which responds by a script, and one on loopback, which sends bytes.

Both record the requests that they receive.
"""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from socket import SO_LINGER, SOL_SOCKET
from types import MappingProxyType
from typing import Generic, Literal, Self, TypeVar

import httpx
from itwin_platform._names import HEADERS
from itwin_platform_transport import BackoffEvent, BackoffPolicy, BackoffTransport, Gate
from itwin_platform_transport.connections.engine import EngineTransport

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """A request as the service received it, and the time of its first byte, in the event loop's time."""

    at: float
    method: str
    target: str  # path and query
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedResponse:
    """A response that the service sends after `delay` seconds, or a fault.

    `reset` closes the connection without a byte, `cut` ends within the body, and `hang` never responds.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b"{}"
    delay: float = 0.0
    fault: Literal["reset", "cut", "hang"] | None = None


class Script(Generic[Taken]):
    """Steps in order; the last one repeats. A step may be a function of the request."""

    def __init__(self, *steps: Taken | Callable[[ReceivedRequest], Taken]) -> None:
        self._steps = list(steps)

    def step(self, request: ReceivedRequest) -> Taken:
        """Return the step for the next request."""
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if callable(step):
            return step(request)  # pyright: ignore[reportReturnType]  # a step of any type may be callable, for pyright
        return step


def now() -> float:
    """Return the event loop's time."""
    return asyncio.get_running_loop().time()


#: The start of the wall clock of the tests.
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def wall_clock() -> datetime:
    """Return the wall clock that advances with the event loop's time."""
    return START + timedelta(seconds=now())


#: The result of a request: a status, a response, or an exception of the transport. A step may wait for it.
Outcome = int | PreparedResponse | httpx.Response | Exception
Step = Outcome | Awaitable[Outcome]

ADDRESS = "https://service.example/things"


class ScriptedTransport(httpx.AsyncBaseTransport):
    """Takes the next step for each request, `latency` seconds after it, and records the requests."""

    def __init__(self, *steps: Step | Callable[[ReceivedRequest], Step], latency: float = 0.0) -> None:
        self._script = Script[Step](*steps)
        self._latency = latency
        self.requests: list[ReceivedRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = False

    @property
    def times(self) -> list[float]:
        """The time of each request, in seconds since the first."""
        return [round(request.at - self.requests[0].at, 6) for request in self.requests]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Record the request and take the next step."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        body = b"".join([chunk async for chunk in request.stream])  # a stream can be read once
        target, headers = request.url.raw_path.decode("ascii"), request.headers.copy()
        received = ReceivedRequest(at=now(), method=request.method, target=target, headers=headers, body=body)
        self.requests.append(received)
        step = self._script.step(received)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency)
            outcome = await step if isinstance(step, Awaitable) else step
            return await _respond(outcome)
        finally:
            self.in_flight -= 1
            if isinstance(step, Coroutine):
                step.close()  # the request was cancelled before its step began

    async def aclose(self) -> None:
        """Record that the client closed it."""
        self.closed = True


class InTaskOfCall(EngineTransport):
    """A base for stand-ins that send in the task of the call, as the default transport does.

    Any other transport sends in a separate task, which protects it from the cancellation of the call.
    """

    @property
    def cancels_cleanly(self) -> bool:
        """True: it needs no protection."""
        return True

    async def aclose(self) -> None:
        """Close nothing."""


class CutBody(httpx.AsyncByteStream):
    """A body that breaks off halfway."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body[: len(self._body) // 2]
        raise httpx.ReadError("the body was cut")


async def _respond(outcome: Outcome) -> httpx.Response:
    if isinstance(outcome, Exception):
        raise outcome
    if isinstance(outcome, httpx.Response):
        return outcome
    if isinstance(outcome, int):
        return response(outcome)
    await asyncio.sleep(3_600.0 if outcome.fault == "hang" else outcome.delay)
    if outcome.fault in ("hang", "reset"):
        raise httpx.ReadError(f"planned: {outcome.fault}")
    # The body is an encoded stream, as from a network.
    stream = CutBody(outcome.body) if outcome.fault == "cut" else httpx.ByteStream(outcome.body)
    return httpx.Response(outcome.status, headers=dict(outcome.headers), stream=stream)


def response(status: int, *, headers: Mapping[str, str] | None = None, content: bytes = b"{}") -> httpx.Response:
    """Return a response with a body."""
    return httpx.Response(status, headers=dict(headers or {}), content=content)


def rate_limited(retry_after: str | None = None) -> httpx.Response:
    """Return a response with status 429."""
    return response(429, headers=None if retry_after is None else {"retry-after": retry_after})


def backoff(
    service: httpx.AsyncBaseTransport,
    *,
    policy: BackoffPolicy | None = None,
    gate: Gate | None = None,
    jitter: float = 0.0,
    on_event: Callable[[BackoffEvent], None] | None = None,
) -> BackoffTransport:
    """Return a backoff transport for the service, with a fixed jitter."""
    gate = gate or Gate(random_number=lambda: jitter)
    return BackoffTransport(
        service, policy=policy, gate=gate, random_number=lambda: jitter, on_event=on_event, headers=HEADERS
    )


async def send(transport: httpx.AsyncBaseTransport, method: str = "GET", **headers: str) -> httpx.Response:
    """Send one request."""
    content = b"{}" if method in ("POST", "PATCH", "PUT") else None
    return await transport.handle_async_request(httpx.Request(method, ADDRESS, headers=headers, content=content))


ACCOUNT = b'{"iTwin": {"id": "a-1", "class": "Account"}}'
DETECTOR = b'{"detector": {"name": "d-1", "type": "PhotoObjectDetector", "versions": []}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Bytes to send, after which the connection stays open, is closed, or is reset.

    `then` is a second write: over TLS a second record, perhaps in the same segment.
    """

    data: bytes
    then: bytes = b""
    closes: bool = False
    resets: bool = False


#: A response, or bytes to send. Bytes without a complete head end the connection.
Sent = PreparedResponse | Raw | bytes


def raw_response(body: bytes = ACCOUNT, *, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Return the bytes of a response; `head` is its status line and any header lines."""
    return b"%s\r\ncontent-length: %d\r\n\r\n%s" % (head, len(body), body)


def plain_transport() -> httpx.AsyncHTTPTransport:
    """Return a transport with any number of connections, and without certificates: loading them takes time."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx.AsyncHTTPTransport(verify=False, limits=limits)


class RawServer:
    """A server that takes the next step for each request, and records the requests."""

    def __init__(self, *steps: Sent | Callable[[ReceivedRequest], Sent], context: ssl.SSLContext | None = None) -> None:
        self._script = Script[Sent](*steps)
        self._context = context
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.connections_accepted = 0
        self.requests: list[ReceivedRequest] = []
        self.port = 0
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
        self.close_connections()  # a task that was cancelled before it began has not closed its connection

    @property
    def address(self) -> str:
        """The URL of the server."""
        return f"http{'s' if self._context else ''}://127.0.0.1:{self.port}"

    @property
    def open_connections(self) -> int:
        """The number of open connections."""
        return len(self._connections)

    def push(self, data: bytes) -> None:
        """Send bytes without a request on every open connection. On loopback they arrive immediately."""
        for writer in self._writers:
            writer.write(data)

    def close_connections(self) -> None:
        """Close every open connection from this side."""
        for writer in self._writers:
            writer.close()

    async def received(self, number: int) -> None:
        """Wait until a number of requests have arrived."""
        while len(self.requests) < number:
            self._arrived.clear()
            await self._arrived.wait()

    async def quiet(self) -> None:
        """Wait until every connection has ended."""
        while self._connections:
            await asyncio.wait(self._connections)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections_accepted += 1
        self._writers.add(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _receive(reader)) is not None:
                self.requests.append(request)
                self._arrived.set()
                if not await _deliver(self._script.step(request), writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client closed the connection; complete requests are recorded
        finally:
            self._writers.discard(writer)
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


async def _deliver(step: Sent, writer: asyncio.StreamWriter) -> bool:
    """Send the response of a step, and return whether the connection stays open."""
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
    """Make the socket reset the connection when it is closed."""
    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
