"""One HTTP/1.1 connection: an `asyncio.Protocol` that feeds the bytes it receives to llhttp, the parser of httptools.

The reasons for an engine of our own, and the messages that it rejects: docs/decisions/own-engine.md.
"""

import asyncio
import math
import re
import select
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .failures import CLOSED, NOT_HTTP
from .messages import FRAMING

State = Literal["idle", "sending", "head", "body", "last body", "done", "closed", "broken"]
Event = Literal["request", "written", "stopped", "response", "last response", "end", "loss", "release"]

#: The state that each event leads to. In a state that does not list it, an event changes nothing.
#:
#: - idle: in the pool. Bytes that arrive now belong to no request, and the peer may close the connection.
#: - sending: a request is being written. The peer may respond before it has read all of it.
#: - head: the request is written, and the head of its response has not arrived.
#: - body: the head has arrived. After the "last body" the connection serves no other request.
#: - done: the response is complete. A response that is released before it was read to its end is "stopped": the next
#:   request must not receive the rest of it.
#: - closed: no response is missing or incomplete, and no request may follow.
#: - broken: a response is missing or incomplete, and `_failure` is the reason.
TRANSITIONS: Mapping[State, Mapping[Event, State]] = {
    "idle": {"request": "sending", "loss": "closed"},
    "sending": {"written": "head", "response": "body", "last response": "last body", "loss": "broken"},
    "head": {"response": "body", "last response": "last body", "loss": "broken"},
    "body": {"stopped": "last body", "end": "done", "loss": "broken"},
    "last body": {"end": "closed", "loss": "broken"},
    "done": {"stopped": "closed", "release": "idle", "loss": "closed"},
    "closed": {},
    "broken": {},
}

#: Seconds for which an idle connection is used. uvicorn, Apache and Node.js close idle connections after 5, and a
#: request that is on its way at that moment is lost.
KEEPALIVE = 4.0
#: Seconds by which a shorter `Keep-Alive: timeout` is reduced, because a request takes time to reach the server.
_KEEPALIVE_MARGIN = 1.0
_KEEPALIVE_TIMEOUT = re.compile(rb"(?:^|[\s,])timeout\s*=\s*\"?(\d{1,9})", re.ASCII | re.IGNORECASE)
#: Unread bytes of a body above which reading from the socket pauses, so that TCP slows the peer down.
_READ_AHEAD = 262_144
#: Most bytes that are handed to the event loop at once. The write timeout limits the time of one such piece.
_WRITTEN_AT_ONCE = 131_072
#: Most bytes in a row that belong to no body: a head with all interim responses, the size of a chunk, or trailers.
_LONGEST_WITHOUT_BODY = 131_072
_TOO_LONG = "the head of the response, the size of a chunk or its trailers are too long"
_LATE = "no progress in time"
_KEEP_ALIVE = b"keep-alive"
_BEGINNING = b"HTTP/"


class Connection(asyncio.Protocol):
    """A connection that sends one request at a time. It reads between requests too: bytes that arrive then close it."""

    def __init__(self, origin: object) -> None:
        #: Scheme, host and port.
        self.origin = origin
        self.state: State = "idle"
        #: The status of the response: 0 until its head has come.
        self.status: int = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.http_version: bytes = b""
        self._loop = asyncio.get_running_loop()
        #: Seconds for which it may be idle after the current response; the end of these, in the event loop's time and
        #: by the wall clock: the first may stand still while the machine is suspended, the second may be set back.
        self._keepalive = KEEPALIVE
        self.usable_until: float = math.inf
        self._usable_until_wall: float = math.inf
        self._transport: Any = None
        self._is_readable: Callable[[], object] = bool
        self._parser: Any = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            # Content-Length beside chunks is ignored. Source: RFC 9112, section 6.3.
            lenient_chunked_length=True,
            # A line may end without a carriage return. Source: RFC 9112, section 2.2.
            lenient_optional_cr_before_lf=True,
            # Servers that reserve space for the size of a chunk fill it with spaces. Source: RFC 9112, section 7.1.1.
            lenient_spaces_after_chunk_size=True,
        )
        self._is_head_request = self._is_paused = False
        #: Wakes the waiting task; the result is whether its time limit has passed.
        self._waiter: asyncio.Future[bool] | None = None
        #: When the time limit of the current wait passes. The timer fires then or earlier, and is set again if it
        #: fires too early: one timer serves many waits, because nearly all of them end in time.
        self._ends_at = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._failure: httpx.TransportError | None = None
        self._body: list[bytes] = []
        self._unread = self._without_body = 0

    def _on(self, event: Event, failure: httpx.TransportError | None = None) -> None:
        after = TRANSITIONS[self.state].get(event)
        if after is None:
            return
        self.state = after
        if after in {"closed", "broken"}:
            self._failure = failure
            self._transport.abort()

    # Callbacks of the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = transport
        self._is_readable = _readable(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Parse bytes. Bytes of no response end the connection."""
        # On a new connection, servers of other protocols may send first.
        is_http = self.status or self._without_body or data.startswith(_BEGINNING)
        reason = "something arrived that belongs to no request" if self.state == "idle" else self._feed(data)
        if reason is not None:
            self._on("loss", httpx.RemoteProtocolError(reason if is_http else NOT_HTTP))
        if self._unread > _READ_AHEAD and self.state in ("body", "last body"):
            self._transport.pause_reading()
        self._wake()

    def _feed(self, data: bytes) -> str | None:
        try:
            # The limit of a head counts bytes, however they are split into packets.
            if not self.status and len(data) > (left := _LONGEST_WITHOUT_BODY - self._without_body):
                self._parser.feed_data(data[:left])
                if not self.status:
                    return _TOO_LONG
                data = data[left:]
            self._without_body += len(data)
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            # An error that a callback raised is the context of the parser's own error.
            return str(error.__context__ or error)
        return _TOO_LONG if self._without_body > _LONGEST_WITHOUT_BODY else None

    def eof_received(self) -> None:
        """End the connection: the peer sends nothing more."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection, and drop the references to it."""
        self._end(exc)
        # The parser and the timer refer to this connection, and would keep it in memory.
        self._parser, self._ends_at = None, math.inf
        self._set_timer()

    def pause_writing(self) -> None:
        """Pause writing: the peer reads too slowly."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Resume writing: the peer has read."""
        self._is_paused = False
        self._wake()

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        """Begin an interim response or the final one, after which no other may come."""
        if self.status:
            raise HttpParserError("a second response came to one request")
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; trailers are dropped."""
        if self.status:
            return
        self.headers.append((name, value.rstrip()))
        if name.lower() == _KEEP_ALIVE and (timeout := _KEEPALIVE_TIMEOUT.search(value)):
            self._keepalive = min(KEEPALIVE, int(timeout[1]) - _KEEPALIVE_MARGIN)

    def on_headers_complete(self) -> None:
        """Set the status, unless the response is an interim one."""
        status = self._parser.get_status_code()
        if status < 100 or status == 101:
            raise HttpParserError(f"the response has the status {status}, which this request cannot have")
        if status < 200:
            return
        self.status, self._without_body = status, 0
        self.http_version = f"HTTP/{self._parser.get_http_version()}".encode()
        if self._is_head_request:
            self._on("last response")
            self._on("end")
            raise HttpParserError("the response of a HEAD request ends with its headers")
        self._on("response" if self._parser.should_keep_alive() else "last response")

    def on_body(self, data: bytes) -> None:
        """Add a part of the body; an interim response has none. Source: RFC 9110, section 15.2."""
        if not self.status:
            raise HttpParserError("an interim response came with a body")
        self._body.append(data)
        self._unread += len(data)
        self._without_body = 0

    def on_message_complete(self) -> None:
        """End the response; for an interim one, `_on` changes nothing."""
        self._on("end")

    # Methods for the pool

    async def send(self, head: bytes, content: bytes, times: Mapping[str, float | None]) -> None:
        """Send a request, and return when the head of its response has come.

        Raises:
            httpx.WriteTimeout, httpx.ReadTimeout: no progress in time.
            httpx.ReadError, httpx.RemoteProtocolError: the connection broke, or the bytes are no response.
        """
        self._is_head_request = head.startswith(b"HEAD ")
        self.status, self._without_body, self._keepalive = 0, 0, KEEPALIVE
        self._on("request")
        # In pieces: the write timeout limits the progress, not the whole body.
        for start in range(0, len(content) or 1, _WRITTEN_AT_ONCE):
            if start and self._transport.is_closing():  # asyncio logs a warning for each piece that it cannot send
                break
            piece = content[start : start + _WRITTEN_AT_ONCE]
            self._transport.write(piece if start else head + piece)
            if self._is_paused and not await self._wait_to_write(times.get("write")):
                self._on("stopped")
                break
        self._on("written")
        while self.state == "head":
            if await self._times_out(times.get("read")):
                raise httpx.ReadTimeout(_LATE)
        if not self.status and self._failure is not None:
            raise self._failure

    async def read(self, seconds: float | None) -> bytes:
        """Wait for a part of the body and return it; b"" at its end.

        Raises:
            httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError: as for `send`.
        """
        while not self._body and self.state in ("body", "last body"):
            if await self._times_out(seconds):
                raise httpx.ReadTimeout(_LATE)
        return self.received()

    def received(self) -> bytes:
        """Return the part of the body that has arrived; b"" at its end.

        Raises:
            httpx.ReadError, httpx.RemoteProtocolError: as for `send`.
        """
        if not self._body and self._failure is not None and self.state == "broken":
            raise self._failure
        if self._unread > _READ_AHEAD:
            self._transport.resume_reading()
        data, self._body, self._unread = b"".join(self._body), [], 0
        return data

    def is_usable(self, wall_time: float) -> bool:
        """Whether a request may be sent. A readable idle connection was closed by its peer, or has surplus bytes."""
        is_too_old = self._loop.time() >= self.usable_until or wall_time >= self._usable_until_wall
        # The event loop may not have polled the socket yet.
        return not (self.state != "idle" or is_too_old or self._transport.is_closing() or self._is_readable())

    def release(self, now: float, wall_time: float) -> None:
        """Become idle if the response was read to its end; unread bytes end the connection."""
        self._on("stopped" if self._body else "release")
        self.usable_until, self._usable_until_wall = now + self._keepalive, wall_time + self._keepalive

    def close(self) -> None:
        """Close the connection at once."""
        self._on("loss", httpx.ReadError("the connection was closed"))
        self._wake()

    def get_extra_info(self, info: str) -> Any:
        """Return a detail of the connection by the name that httpcore gives it, as its `network_stream` does."""
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    async def _wait_to_write(self, seconds: float | None) -> bool:
        """Wait while the peer reads too slowly; return whether to send the rest of the request."""
        while self._is_paused and self.state not in {"closed", "broken"}:
            # An error response that arrives early ends the upload. Source: RFC 9110, section 7.5.
            if self.status >= 300:
                return False
            if await self._times_out(seconds):
                # A service that has responded may stop reading.
                if not self.status:
                    raise httpx.WriteTimeout(_LATE)
                return False
        return True

    def _end(self, error: Exception | None) -> None:
        if error is not None:
            failure: httpx.TransportError = httpx.ReadError(str(error))
            failure.__cause__ = error
        else:
            is_empty = not self.status and not self._without_body
            reason = CLOSED if is_empty else "the server closed the connection before its response was complete"
            failure = httpx.RemoteProtocolError(reason)
            if self.state == "last body" and not any(name.lower() in FRAMING for name, _ in self.headers):
                # A body without a length ends with the connection.
                self._on("end")
        self._on("loss", failure)
        self._wake()

    def _wake(self, *, is_late: bool = False) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(is_late)
        self._waiter = None

    def _times_out(self, seconds: float | None) -> Awaitable[bool]:
        """Wait for the next event of the connection; return whether the time limit has passed."""
        waiter = self._waiter = self._loop.create_future()
        self._ends_at = math.inf if seconds is None else self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._ends_at:
            self._set_timer()
        return waiter

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if self._ends_at == math.inf else self._loop.call_at(self._ends_at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._waiter is not None and self._loop.time() < self._ends_at:
            self._set_timer()
        else:
            self._wake(is_late=True)


def _readable(descriptor: int) -> Callable[[], object]:
    """Return a function that polls whether a socket is readable. It is valid until the connection is lost."""
    if not hasattr(select, "poll"):  # pragma: no cover  # Windows
        return lambda: select.select([descriptor], [], [], 0)[0]
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return partial(poll.poll, 0)
