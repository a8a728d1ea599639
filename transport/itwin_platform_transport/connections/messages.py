"""The request and the response of an attempt as values."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from types import ModuleType
from typing import Any, NamedTuple, Self

import anyio
import httpx

from ..errors import UsageError, class_name
from .hosts import host_header, name_of

#: Header names and values, as they are sent and received.
RawHeaders = Sequence[tuple[bytes, bytes]]
#: The headers that state where a body ends, in lower case.
FRAMING = (b"content-length", b"transfer-encoding")
#: Raised when the connection breaks while a body is read.
BROKEN_OFF = (httpx.RequestError, OSError)

#: Most bytes that are reserved for a body before it arrives: its Content-Length may be wrong.
_MOST_RESERVED = 16_777_216
#: Bytes up to which nothing is reserved: such a body usually arrives in one piece.
_LEAST_RESERVED = 262_144

#: An httpcore `trace` extension: it is called with each event of a connection.
TraceExtension = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class Origin(NamedTuple):
    """The scheme, host and port of an address; the port is None if it is that of the scheme."""

    scheme: bytes
    host: bytes
    port: int | None

    @classmethod
    def of(cls, url: httpx.URL) -> Self:
        """Return the origin of a URL."""
        return cls(url.raw_scheme, url.raw_host, url.port)

    def __str__(self) -> str:
        host = self.host.decode("ascii")
        host = f"[{host}]" if ":" in host else host
        return f"{self.scheme.decode()}://{host}" + ("" if self.port is None else f":{self.port}")


class Sending:
    """Records whether an attempt has begun to write its request.

    On a route through httpx it is the `trace` extension of httpcore, so connections of httpx report to it too.
    Connections that report nothing may have written the request.

    Args:
        trace: the `trace` extension of the caller, which receives each event as well.
    """

    def __init__(self, trace: TraceExtension | None = None) -> None:
        self._trace = trace
        self._was_written = False
        #: Whether a byte of the request may have been written.
        self.may_have_begun: bool = True

    def connects(self) -> None:
        """Record that a connection is made now. A request that was written before this still counts as written."""
        self.may_have_begun = self._was_written

    def writes(self) -> None:
        """Record that writing the request begins."""
        self._was_written = self.may_have_begun = True

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        """Receive an event of httpcore. A proxy first gets a request of its own, with the method CONNECT."""
        if event in ("connection.connect_tcp.started", "connection.connect_unix_socket.started"):
            self.connects()
        elif event.endswith(".send_request_headers.started") and info["request"].method != b"CONNECT":
            self.writes()
        if self._trace is not None:
            await self._trace(event, info)


def sending_of(extensions: Mapping[str, Any]) -> Sending:
    """Return the `Sending` of an attempt; a new one, which passes events on to the caller's `trace`, without one."""
    trace = extensions.get("trace")
    return trace if isinstance(trace, Sending) else Sending(trace)


@dataclass(slots=True, eq=False, repr=False)
class Request:
    """A request as its attempts send it. Its `repr` shows neither headers nor body.

    Args:
        method: the HTTP method.
        origin: the scheme, host and port of its address.
        target: the path and the query of its address, encoded.
        raw_headers: all headers.
        content: the body; empty where there is none.
        extensions: options for the transport, such as its timeouts, by the names that httpx uses.
    """

    method: str
    origin: Origin
    target: bytes
    raw_headers: RawHeaders
    content: bytes
    extensions: Mapping[str, Any]

    @classmethod
    async def of(cls, request: httpx.Request) -> Self:
        """Return the values of an `httpx.Request`. A streamed body is read to its end first.

        Raises:
            UsageError: it is a request of another library.
        """
        if not isinstance(request, httpx.Request):
            # A client of httpx2 would fail on the response, which is one of httpx, after the request was sent.
            kind = class_name(request)
            raise UsageError(f"a BackoffTransport sends an httpx.Request, not {kind}: use it in an httpx.AsyncClient")
        content = await request.aread()
        headers = _with_name_in_host(request.headers, request.url)
        if "transfer-encoding" in headers or (content and "content-length" not in headers):
            headers = httpx.Headers([pair for pair in headers.raw if pair[0].lower() != b"transfer-encoding"])
            headers["Content-Length"] = str(len(content))
        url = request.url
        return cls(request.method, Origin.of(url), url.raw_path, headers.raw, content, request.extensions)

    def with_bearer(self, token: str) -> "Request":
        """Return the request with a bearer token."""
        headers = (*self.raw_headers, (b"Authorization", b"Bearer " + token.encode("ascii")))
        return Request(self.method, self.origin, self.target, headers, self.content, self.extensions)

    @property
    def url(self) -> httpx.URL:
        """The address, without user information and fragment."""
        return httpx.URL(f"{self.origin}{self.target.decode('ascii')}")

    @property
    def path(self) -> str:
        """The path of the address, encoded."""
        return self.target.partition(b"?")[0].decode("ascii")

    @property
    def headers(self) -> httpx.Headers:
        """A copy of the headers, looked up without regard to case."""
        return httpx.Headers(self.raw_headers)


@dataclass(slots=True, eq=False, repr=False)
class Response:
    """A response: its head, then its body as it came, which may be encoded.

    Args:
        status_code: the HTTP status.
        raw_headers: all headers.
        content: the body, once it was read.
        stream: the body as it arrives; None when all of it has arrived.
        is_read: whether an event hook or a transport has read the stream.
        extensions: details from the transport, by the names that httpx uses.
        fault: why the body cannot be used.
    """

    status_code: int
    raw_headers: RawHeaders = ()
    content: bytes = b""
    stream: httpx.AsyncByteStream | None = None
    is_read: bool = False
    extensions: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None

    @property
    def headers(self) -> httpx.Headers:
        """A copy of the headers, looked up without regard to case."""
        return httpx.Headers(self.raw_headers)

    @property
    def headers_of_decoded(self) -> httpx.Headers:
        """A copy of the headers of the decoded body."""
        return without_encoding(self.headers)

    def as_httpx(self) -> httpx.Response:
        """Return the response as a transport of httpx returns it: its body is not decoded yet."""
        stream = self.stream or httpx.ByteStream(self.content)
        return httpx.Response(self.status_code, headers=self.raw_headers, stream=stream, extensions={**self.extensions})

    async def read(self, *, limit: int) -> None:
        """Read the body to its end, as it comes, and give its connection back.

        If the body is too large, or if that of an error response breaks off, its beginning is kept.

        Args:
            limit: the largest body, in bytes, before it is decoded.

        Raises:
            httpx.RequestError: the body of a success broke off.
        """
        if self.stream is not None:
            # Reserve the stated length of a body of several pieces: joining them would take its memory twice.
            stated = next((value for name, value in self.raw_headers if name.lower() == b"content-length"), b"")
            length = min(int(stated[:18]) if stated.isdigit() else 0, limit, _MOST_RESERVED)
            body = BytesIO(bytes(length) if length > _LEAST_RESERVED else b"")
            try:
                await self._collect(self.stream, body, limit=limit)
            except BROKEN_OFF:
                if self.status_code < 300:
                    raise
            if not self.is_read:
                body.truncate()  # the reserved bytes that did not arrive
                self.content = body.getvalue()  # CPython copies nothing here
            self.stream = None
        if len(self.content) > limit:
            self.fault = f"it is larger than max_response_bytes, {limit} bytes"
            self.content = self.content[:limit]

    async def _collect(self, stream: httpx.AsyncByteStream, body: BytesIO, *, limit: int) -> None:
        """Read a body to its end, or until it is too large."""
        try:
            if not self.is_read:
                async for chunk in stream:
                    body.write(chunk)
                    del chunk  # otherwise it stays in memory until the next one has arrived
                    if body.tell() > limit:
                        break
        except BaseException:
            # A cancellation of the read must not cancel the close.
            with anyio.CancelScope(shield=True):
                await stream.aclose()
            raise
        await stream.aclose()


def _with_name_in_host(headers: httpx.Headers, url: httpx.URL) -> httpx.Headers:
    """Return the headers. A Host that httpx took from the URL loses the dot behind the name, and the zone."""
    host = url.netloc
    if (b".:" in host or b"%" in host or host.endswith(b".")) and headers.get("host", "").encode() == host:
        headers = headers.copy()
        headers["Host"] = host_header(url.raw_host.decode("ascii"), url.port)
    return headers


def without_dot(origin: Origin) -> Origin:
    """Return an origin without the dot behind its host, for transports that would pass the dot on to TLS."""
    return origin._replace(host=origin.host.removesuffix(b"."))


def as_httpx(request: Request, sending: Sending, library: ModuleType = httpx) -> httpx.Request:
    """Make a request of httpx, or of httpx2, for one attempt: a transport that changes it changes no other attempt."""
    extensions = {**request.extensions, "trace": sending}
    if request.origin.host.endswith(b"."):
        # The name for TLS, as httpcore reads it.
        extensions.setdefault("sni_hostname", name_of(request.origin.host.decode("ascii")))
    # As a stream: for `content`, httpx would add a Content-Length, also to a request without a body.
    made: httpx.Request = library.Request(
        request.method,
        request.url if library is httpx else str(request.url),
        headers=request.raw_headers,
        stream=library.ByteStream(request.content),
        extensions=extensions,
    )
    made.read()
    return made


async def send_through(transport: Any, request: Request, sending: Sending, library: ModuleType = httpx) -> Response:
    """Send a request through a transport of httpx, or of httpx2, and return the response when its head has come.

    A response that an event hook or a transport has read already, and thereby decoded, is used as it is.
    """
    response = await transport.handle_async_request(as_httpx(request, sending, library))
    received = Response(
        response.status_code, response.headers.raw, stream=response.stream, extensions=response.extensions
    )
    if response.is_stream_consumed:
        received.is_read, received.raw_headers = True, without_encoding(response.headers).raw
        try:
            received.content = response.content
        except library.ResponseNotRead:
            reason = (
                "an event hook or a transport has consumed its body without keeping it: read it with `aread()` there"
            )
            received.fault = reason
    return received


def without_encoding(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers of the decoded body: without Content-Encoding and the Content-Length of the encoded body."""
    if "content-encoding" in headers:
        headers = headers.copy()
        del headers["content-encoding"]
        headers.pop("content-length", None)
    return headers
