"""The request and the response of an attempt as values, and the exceptions of an attempt without a response."""

import os
import re
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from types import ModuleType
from typing import Any, NamedTuple, Self, TypeVar

import anyio
import httpx

from ..errors import UsageError
from ..names import is_client_module
from .hosts import host_header, is_loopback, name_of

E = TypeVar("E", bound=BaseException)

#: Header names and values, as they are sent and received.
RawHeaders = Sequence[tuple[bytes, bytes]]
#: The headers that state where a body ends, in lower case.
FRAMING = (b"content-length", b"transfer-encoding")


class SettingError(httpx.LocalProtocolError):
    """A network setting of the environment, or of an argument, cannot be used.

    The text names the setting, and holds nothing confidential.
    """


#: The exceptions of a transport that count as an attempt without a response.
NO_RESPONSE = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, httpx.CookieConflict, OSError)
#: Raised for a request that cannot be written as HTTP.
UNSENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
#: Raised when there was no connection to send the request on.
NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
#: Raised when the connection breaks while a body is read.
BROKEN_OFF = (httpx.RequestError, OSError)

#: Most bytes that are reserved for a body before it arrives: its Content-Length may be wrong.
_MOST_RESERVED = 16_777_216
#: Bytes up to which nothing is reserved: such a body usually arrives in one piece.
_LEAST_RESERVED = 262_144

#: TLS errors that mean that the connection was dropped: a retry may help.
_LOST = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
#: Raised when the peer closes the connection during the handshake.
_CUT_OFF = (ssl.SSLEOFError, ConnectionResetError)
#: Raised when the peer resets a connection.
_RESET = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
#: Prefix of the note on an error that names the proxy of the attempt.
THROUGH_PROXY = "through the proxy "
#: Two reasons for a missing response, and the texts of h11 for them. httpx's own transports parse with h11.
NOT_HTTP = "it responded with bytes that are not HTTP"
CLOSED = "it closed the connection without a response"
_MEANINGS_IN_H11 = {
    **dict.fromkeys(("illegal status line", "illegal request line", "no response line received"), NOT_HTTP),
    "Server disconnected without sending a response": CLOSED,
}

#: With TLS 1.3 a service rejects a certificate, or the lack of one, when the handshake is over for the client.
_REJECTED = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")
#: The remedy for a TLS failure, by the reason that OpenSSL names.
_REMEDIES = (
    (re.compile("local issuer|self[- ]signed"), "trust the authority of its certificate with ssl_context="),
    (re.compile("NO_APPLICATION_PROTOCOL"), 'offer HTTP/1.1 with set_alpn_protocols(["http/1.1"])'),
    (re.compile("WRONG_VERSION|HTTP_REQUEST|RECORD_LAYER|LENGTH_TOO_LONG"), "{} does not speak TLS: is it http://?"),
)


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
            kind = f"{type(request).__module__}.{type(request).__qualname__}"
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


def why_final(error: BaseException) -> str | None:
    """Return why a retry would not change a failure to connect; None for any other failure.

    After such a failure, the service has processed nothing of the request.
    """
    if isinstance(error, SettingError):
        return str(error)
    if isinstance(error, httpx.ProxyError):
        status = str(error)[:3]
        if not (status.isdecimal() and status.startswith("4")):
            return None
        remedy = ": its URL needs a user and a password that it accepts" if status == "407" else ""
        return f"the proxy rejects the connection, with status {status}{remedy}"
    return _tls_failure(error)


def _tls_failure(error: BaseException) -> str | None:
    """Return why one side does not trust the other one; None for any other failure."""
    for cause in chain_of(error):
        if not isinstance(cause, ssl.SSLError) or isinstance(cause, _LOST):
            continue
        reason = str(getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or cause)
        # If OpenSSL names no reason, the text ends with a line number of Python's source.
        reason = reason.partition(" (_ssl.c:")[0]
        is_handshake = isinstance(error, httpx.ConnectError)
        if is_handshake or ("_ALERT_" in reason and any(word in reason for word in _REJECTED)):
            return reason
    return None


def is_not_http(error: BaseException | None, *, scheme: str) -> bool:
    """Return whether the other side shows no sign of HTTP: it sends other bytes, or, over plain http, nothing.

    A service that speaks TLS does either when it gets a request over plain http.
    """
    reason = _http_failure(error)
    if scheme != "http" or error is None or isinstance(error, NOT_CONNECTED):
        return reason == NOT_HTTP
    return reason is not None or any(isinstance(cause, _RESET) for cause in chain_of(error))


def _http_failure(error: BaseException | None) -> str | None:
    """Return NOT_HTTP or CLOSED if that is the reason of an error, also in the words of h11; None for any other."""
    if isinstance(error, httpx.ConnectError) and any(isinstance(cause, _CUT_OFF) for cause in chain_of(error)):
        return CLOSED
    text = str(error) if isinstance(error, httpx.RemoteProtocolError) else ""
    meanings = (meaning for words, meaning in _MEANINGS_IN_H11.items() if text.startswith(words))
    return text if text in (NOT_HTTP, CLOSED) else next(meanings, None)


def kind_of_failure(error: BaseException | None, *, may_need_https: bool = False) -> str:
    """Describe a failure without anything confidential: its class, its reason, the remedy, and the proxy.

    Args:
        error: the exception of an attempt without a response.
        may_need_https: whether plain http was sent to an address that has shown no sign of HTTP.
    """
    assert error is not None  # noqa: S101  # an attempt without a response has an error
    reason = why_final(error) or _system_error(error) or _http_failure(error)
    through = next((note for note in getattr(error, "__notes__", ()) if note.startswith(THROUGH_PROXY)), "")
    remedy = "does it need https?" if may_need_https else _remedy(reason or "", through=through)
    return ": ".join(filter(None, [type(error).__name__, reason, remedy, through]))


def _remedy(reason: str, *, through: str) -> str | None:
    speaker = "the proxy" if through.startswith(f"{THROUGH_PROXY}https") else "the server"
    return next((remedy.format(speaker) for pattern, remedy in _REMEDIES if pattern.search(reason)), None)


def _system_error(error: BaseException) -> str | None:
    for cause in chain_of(error):
        if isinstance(cause, OSError) and cause.errno is not None and not isinstance(cause, ssl.SSLError):
            is_name = isinstance(cause, socket.gaierror)
            # Not the text of the error, to which asyncio adds one address or all of them.
            return str(cause.strerror if is_name else os.strerror(cause.errno)).lower()
    return None


def is_wrong_address(error: BaseException | None, *, host: str) -> bool:
    """Return whether an address most likely is wrong: its name is unknown, or nothing listens there on this machine."""
    causes = [] if error is None or not isinstance(error, NOT_CONNECTED) else list(chain_of(error))
    if any(isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN for cause in causes):
        return True
    return is_loopback(host) and any(isinstance(cause, ConnectionRefusedError) for cause in causes)


#: The packages below this one that catch exceptions while a request is sent.
_BELOW = sys.stdlib_module_names | {"anyio", "httpcore", "httpcore2", "httpx", "httpx2"}


def remove_frames(error: BaseException) -> None:
    """Remove the tracebacks of an error, of its causes and of its contexts.

    Their frames hold requests, with token and body, and error trackers capture the variables of frames. An exception
    that the application has caught keeps its traceback, for example the one that it handles during the call.
    """
    for cause in chain_of(error, is_included=_was_caught_below):
        cause.__traceback__ = None


def without_own_frames(error: E) -> E:
    """Remove from a traceback the frames of this package that called a function of the application."""
    frames = error.__traceback__
    while frames is not None and is_client_module(frames.tb_frame.f_globals.get("__name__", "")):
        frames = frames.tb_next
    return error.with_traceback(frames)


def _was_caught_below(error: BaseException) -> bool:
    """Return whether this package, or one below it, has caught an exception: its traceback begins with that frame."""
    if error.__traceback__ is None:
        return True
    module: str = error.__traceback__.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in _BELOW or is_client_module(module)


def chain_of(
    error: BaseException, *, is_included: Callable[[BaseException], bool] = lambda _: True
) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts; nothing of an error that is not included."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and id(current) not in seen and is_included(current):
            seen.add(id(current))
            yield current
            left += [current.__context__, current.__cause__]
            if isinstance(current, BaseExceptionGroup):
                left += current.exceptions
