"""One HTTP/1.1 connection: a protocol of asyncio that hands what arrives to the parser of httptools, llhttp.

Why it is an own one, and what it rejects: docs/decisions/own-engine.md.
"""

import asyncio
import math
import re
import select
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .messages import CLOSED, NOT_HTTP

State = Literal["idle", "sending", "head", "body", "last body", "done", "closed", "broken"]
Event = Literal["request", "written", "stopped", "response", "last response", "end", "loss", "release"]

#: What each event does in each state. An event that is not named changes nothing: it is a consequence of another one.
#:
#: - idle: in the pool. Whatever arrives belongs to no request, and the peer may close the connection.
#: - sending: a request is being written. A peer may respond before it has read all of it.
#: - head: the request is written; its response is to come.
#: - body: the head has come. After the "last body" the connection serves no other request.
#: - done: the response is complete. If it is given up before it was read to its end, that is "stopped": the next
#:   request must not find what is left of it.
#: - closed: no response is missing, and no request may follow.
#: - broken: a response is missing, or a part of it: `_failure` says why.
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

#: An idle connection is used for so many seconds: uvicorn, Apache and Node.js close theirs after 5, and a request that
#: is on its way then is lost. A response that names a shorter time is believed, less the margin for that way.
KEEPALIVE, _KEEPALIVE_MARGIN = 4.0, 1.0
_KEEPALIVE_TIMEOUT = re.compile(rb"(?:^|[\s,])timeout\s*=\s*\"?(\d{1,9})", re.ASCII | re.IGNORECASE)
#: So many bytes of a body may wait to be read before the peer is slowed down.
_READ_AHEAD = 262_144
#: So many bytes are handed to the event loop at once.
_WRITTEN_AT_ONCE = 65_536
#: So many bytes may arrive without a part of a body: a head with all interim responses, the size of a chunk, trailers.
_LONGEST_WITHOUT_BODY = 131_072
_TOO_LONG = "the head of the response, the size of a chunk or its trailers are too long"
_KEEP_ALIVE = b"keep-alive"
_BEGINNING = b"HTTP/"
_FRAMING = (b"content-length", b"transfer-encoding")


class Connection(asyncio.Protocol):
    """Sends one request at a time. It reads all the time: what arrives between requests ends the connection."""

    def __init__(self, origin: object) -> None:
        #: Where it leads.
        self.origin = origin
        self.state: State = "idle"
        #: The status of the response: 0 until its head has come.
        self.status: int = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.http_version: bytes = b""
        self._loop = asyncio.get_running_loop()
        #: How long it may be idle after the present response, and the end of that, in the event loop's time.
        self._keepalive: float
        self._usable_until: float
        self._transport: Any = None
        self._is_readable: Callable[[], object] = bool
        self._parser: Any = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            # A length beside chunks does not count. Source: RFC 9112, section 6.3.
            lenient_chunked_length=True,
            # A line may end without a carriage return. Source: RFC 9112, section 2.2.
            lenient_optional_cr_before_lf=True,
            # Servers that reserve space for the size of a chunk fill it with spaces. Source: RFC 9112, section 7.1.1.
            lenient_spaces_after_chunk_size=True,
        )
        self._is_head_request = self._is_paused = False
        #: What wakes the task that waits, and tells it whether its time is over.
        self._waiter: asyncio.Future[bool] | None = None
        #: When the present wait is over. The timer rings then or earlier, and is set again if it rings too early: a
        #: timer for each wait takes more time, because nearly all waits end before.
        self._ends_at: float
        self._timer: asyncio.TimerHandle | None = None
        self._failure: httpx.TransportError | None = None
        self._body: list[bytes] = []
        self._unread = self._without_body = 0

    def _on(self, event: Event, failure: httpx.TransportError | None = None) -> None:
        after = TRANSITIONS[self.state].get(event)
        if after is None:
            return
        self.state = after
        if after in ("closed", "broken"):
            self._failure = failure
            self._transport.abort()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = transport
        self._is_readable = _readable(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, which ends the connection if it is no part of a response."""
        if (reason := self._rejected(data)) is not None:
            self._on("loss", httpx.RemoteProtocolError(reason))
        if self._unread > _READ_AHEAD and self.state in ("body", "last body"):
            self._transport.pause_reading()
        self._wake()

    def _rejected(self, data: bytes) -> str | None:
        # On a new connection a server may speak first, as those of other protocols do.
        is_first = not self.status and not self._without_body
        reason = "something arrived that belongs to no request" if self.state == "idle" else self._parsed(data)
        return NOT_HTTP if reason and is_first and not data.startswith(_BEGINNING) else reason

    def _parsed(self, data: bytes) -> str | None:
        try:
            # A head may have so many bytes, however it arrives.
            if not self.status and len(data) > (room := _LONGEST_WITHOUT_BODY - self._without_body):
                self._parser.feed_data(data[:room])
                if not self.status:
                    return _TOO_LONG
                data = data[room:]
            self._without_body += len(data)
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            # What a callback raises is the context of the parser's own error.
            return str(error.__context__ or error)
        return _TOO_LONG if self._without_body > _LONGEST_WITHOUT_BODY else None

    def eof_received(self) -> None:
        """End the connection: the peer sends nothing more."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self._end(exc)
        # Both hold this connection.
        self._parser, self._ends_at = None, math.inf
        self._set_timer()

    def pause_writing(self) -> None:
        """Note that the peer reads too slowly."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Note that the peer has read."""
        self._is_paused = False
        self._wake()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Begin a response: of interim responses the last one counts, and a second response is surplus."""
        if self.status:
            raise HttpParserError("a second response came to one request")
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, but no trailer."""
        if self.status:
            return
        self.headers.append((name, value.rstrip()))
        # By its length first: a response has ten headers and more.
        is_named = len(name) == len(_KEEP_ALIVE) and name.lower() == _KEEP_ALIVE
        if is_named and (found := _KEEPALIVE_TIMEOUT.search(value)):
            self._keepalive = min(KEEPALIVE, int(found[1]) - _KEEPALIVE_MARGIN)

    def on_headers_complete(self) -> None:
        """Keep the status; one below 200 announces that the response is still to come."""
        status = self._parser.get_status_code()
        if status < 100 or status == 101:
            raise HttpParserError(f"the status {status} is none that was asked for")
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
        """Keep a part of the body; an interim response has none. Source: RFC 9110, section 15.2."""
        if not self.status:
            raise HttpParserError("an interim response came with a body")
        self._body.append(data)
        self._unread += len(data)
        self._without_body = 0

    def on_message_complete(self) -> None:
        """Note the end of the response; that of an interim one changes nothing."""
        self._on("end")

    # What the pool calls

    async def send(self, head: bytes, content: bytes, times: Mapping[str, float | None]) -> None:
        """Send a request, and return when the head of its response has come.

        Raises:
            httpx.WriteTimeout, httpx.ReadTimeout: no progress in time.
            httpx.ReadError, httpx.RemoteProtocolError: the connection broke, or what arrived is no response.
        """
        self._is_head_request = head.startswith(b"HEAD ")
        self.status, self._without_body, self._keepalive = 0, 0, KEEPALIVE
        self._on("request")
        # In pieces: the time limit is one for progress, however large a body is.
        for start in range(0, len(content) or 1, _WRITTEN_AT_ONCE):
            if self.state in ("closed", "broken"):
                break
            piece = content[start : start + _WRITTEN_AT_ONCE]
            self._transport.write(piece if start else head + piece)
            if self._is_paused and not await self._takes_more(times.get("write")):
                self._on("stopped")
                break
        self._on("written")
        while self.state == "head":
            await self._wait(times.get("read"), httpx.ReadTimeout)
        if not self.status and self._failure is not None:
            raise self._failure

    async def read(self, seconds: float | None) -> bytes:
        """Return what has arrived of the body, b"" at its end.

        Raises:
            httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError: as above.
        """
        while not self._body and self.state in ("body", "last body"):
            await self._wait(seconds, httpx.ReadTimeout)
        if not self._body and self._failure is not None and self.state == "broken":
            raise self._failure
        self._transport.resume_reading()
        data, self._body, self._unread = b"".join(self._body), [], 0
        return data

    @property
    def is_complete(self) -> bool:
        """Whether all of the response has arrived."""
        return self.state in ("done", "closed")

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent: an idle connection that is readable has ended, or is out of step."""
        # The event loop may not have looked at the socket yet.
        is_at_an_end = self.state != "idle" or self.is_too_old or self._transport.is_closing()
        return not (is_at_an_end or self._is_readable())

    @property
    def is_too_old(self) -> bool:
        """Whether it has been idle for too long."""
        return self._loop.time() >= self._usable_until

    def release(self) -> None:
        """Become idle if the response was read to its end; what nobody has read ends the connection."""
        self._on("stopped" if self._body else "release")
        self._usable_until = self._loop.time() + self._keepalive

    def close(self) -> None:
        """Close the connection at once."""
        self._on("loss", httpx.ReadError("the connection was closed"))
        self._wake()

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the connection, by the names that httpcore uses, as `network_stream`."""
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    async def _takes_more(self, seconds: float | None) -> bool:
        """Wait while the peer reads too slowly; return whether it is to get the rest."""
        while self._is_paused and self.state not in ("closed", "broken"):
            # An error that comes before all is sent ends the sending. Source: RFC 9110, section 7.5.
            if self.status >= 300:
                return False
            try:
                await self._wait(seconds, httpx.WriteTimeout)
            except httpx.WriteTimeout:
                # A service that has responded may read no more.
                if not self.status:
                    raise
                return False
        return True

    def _end(self, error: Exception | None) -> None:
        if error is not None:
            failure: httpx.TransportError = httpx.ReadError(str(error))
            failure.__cause__ = error
        else:
            is_empty = not self.status and not self._without_body
            said = CLOSED if is_empty else "the server closed the connection before its response was complete"
            failure = httpx.RemoteProtocolError(said)
            if self.state == "last body" and not any(name.lower() in _FRAMING for name, _ in self.headers):
                # The end of the connection is the end of a body that has no length.
                self._on("end")
        self._on("loss", failure)
        self._wake()

    def _wake(self, *, is_late: bool = False) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(is_late)

    async def _wait(self, seconds: float | None, too_late: type[httpx.TransportError]) -> None:
        waiter = self._waiter = self._loop.create_future()
        self._ends_at = math.inf if seconds is None else self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._ends_at:
            self._set_timer()
        try:
            if await waiter:
                raise too_late("no progress in time")
        finally:
            self._waiter = None

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
    """Return what tells whether a socket is readable; it is valid until the connection is lost."""
    if not hasattr(select, "poll"):  # pragma: no cover  # Windows
        return lambda: select.select([descriptor], [], [], 0)[0]
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return partial(poll.poll, 0)
