"""Requests and responses as values: their headers for transports and tools, their limits, and texts of failures."""

import asyncio
import errno
import gzip
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext, suppress
from unittest.mock import AsyncMock

import anyio
import httpcore
import httpx
import pytest
from itwin_platform import PlatformClient
from itwin_platform_transport import AccessToken, BackoffPolicy, BackoffTransport, OutcomeUnknownError, Request
from itwin_platform_transport.connections.engine import EngineTransport, head_of, header_lines
from itwin_platform_transport.connections.failures import (
    CLOSED,
    NOT_HTTP,
    THROUGH_PROXY,
    SettingError,
    is_not_http,
    is_wrong_address,
    kind_of_failure,
    why_final,
)
from itwin_platform_transport.connections.messages import Response, without_encoding

from tests.support.services import PreparedResponse, RawServer, raw_response, send


class Looking(EngineTransport):
    """A transport of the caller that records the headers of each request, and changes some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[httpx.Headers] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Record the headers, change them, and send the request."""
        assert (type(request), type(request.headers)) == (httpx.Request, httpx.Headers)
        self.seen.append(request.headers.copy())
        request.headers.update({"X-Correlation-Id": f"attempt-{len(self.seen)}", "user-agent": "changed"})
        return await super().handle_async_request(request)


@pytest.mark.parametrize("is_around", [False, True], ids=["derived from the engine", "around it"])
async def test_a_transport_sees_all_headers_and_what_it_changes_is_sent(is_around: bool) -> None:
    """In each attempt, a transport of the caller gets `httpx.Headers` with the token, and its changes are sent."""
    transport = Looking()
    given = httpx.MockTransport(transport.handle_async_request) if is_around else transport
    async with RawServer(PreparedResponse(status=503), raw_response()) as server, transport:
        async with PlatformClient(
            server.address,
            vendor="v",
            token=lambda: AccessToken(f"token-{len(transport.seen)}"),
            backoff=BackoffPolicy(base_delay=0.0),
            transport=given,
        ) as platform:
            await platform.itwins.get_primary_account()
        received = [request.headers for request in server.requests]
        assert server.connections_accepted == 1
    assert [headers["authorization"] for headers in transport.seen] == ["Bearer token-0", "Bearer token-1"]
    assert {"accept", "accept-encoding", "host", "user-agent"} <= transport.seen[0].keys()
    assert [headers["x-correlation-id"] for headers in received] == ["attempt-1", "attempt-2"]
    assert [headers.get_list("user-agent") for headers in received] == [["changed"]] * 2


async def test_a_response_that_a_tool_has_read_comes_as_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool may read and decode a response of httpx; a response that it has consumed raises StreamConsumed."""
    own = httpx.AsyncHTTPTransport.handle_async_request

    async def read(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        response = await own(transport, request)
        if request.url.path == "/kept":
            await response.aread()
        else:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            assert [part async for part in response.aiter_raw()]
        return response

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", read)
    body = gzip.compress(b"{}")
    served = raw_response(body, head=b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip")
    async with RawServer(served) as server, httpx.AsyncClient(transport=EngineTransport()) as client:
        assert (await client.get(f"{server.address}/kept")).json() == {}
        with pytest.raises(httpx.StreamConsumed):
            await client.get(f"{server.address}/lost")


async def test_a_post_that_a_tool_may_have_sent_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that replaces the pool of httpcore need not report whether a request was written."""
    failing = AsyncMock(side_effect=httpcore.ReadError("x"))
    monkeypatch.setattr(httpcore.AsyncConnectionPool, "handle_async_request", failing)
    with pytest.raises(OutcomeUnknownError, match="after 1 attempt; the request may have had an effect"):
        await send(BackoffTransport(EngineTransport()), "POST")


def test_a_response_that_is_read_keeps_its_headers_and_not_its_encoding() -> None:
    """Without Content-Encoding, the other headers of a response stay, also two of one name."""
    received = [(b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=\xe9"), (b"Empty", b"")]
    encoded = [*received, (b"Content-Encoding", b"identity"), (b"content-length", b"2")]
    response = httpx.Response(200, headers=encoded, stream=httpx.ByteStream(b"{}"))
    assert without_encoding(response.headers).raw == received
    assert response.headers["content-length"] == "2"


#: The bytes that HTTP allows in each part of a head. Source: RFC 9110, sections 5.5 and 5.6.2.
IN_A_TOKEN = {*b"!#$%&'*+-.^_`|~", *range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x61, 0x7B)}
ALLOWED: dict[str, tuple[set[int], Callable[[bytes], bytes]]] = {
    "method": (IN_A_TOKEN, lambda each: head_of(b"/", header_lines(each, []), b"")),
    "target": ({*range(0x21, 0x7F)}, lambda each: head_of(b"/" + each, header_lines(b"GET", []), b"")),
    "name": (IN_A_TOKEN, lambda each: head_of(b"/", header_lines(b"GET", [(each, b"1")]), b"")),
    "value": (
        {0x09, *range(0x20, 0x7F), *range(0x80, 0x100)},
        lambda each: head_of(b"/", header_lines(b"GET", [(b"a", each)]), b""),
    ),
}


@pytest.mark.parametrize("part", ALLOWED)
def test_a_head_has_only_the_bytes_that_http_allows(part: str) -> None:
    """Each allowed byte is accepted, and each other byte is rejected."""
    expected, head = ALLOWED[part]
    found = set[int]()
    for byte in range(256):
        with suppress(httpx.LocalProtocolError):
            assert bytes([byte]) in head(bytes([byte]))
            found.add(byte)
    assert found == expected


def caused(error: Exception, cause: Exception) -> Exception:
    """Return an error with its cause."""
    error.__cause__ = cause
    return error


def connecting(cause: Exception) -> Exception:
    """Return a failure to connect, with its cause."""
    return caused(httpx.ConnectError("x"), cause)


def tls(message: str, kind: type[ssl.SSLError] = ssl.SSLError, *, verified: str = "") -> ssl.SSLError:
    """Return a failure of TLS, with the reason of OpenSSL, and its message about the certificate."""
    error = kind(1, f"[SSL: {message}] words (_ssl.c:1000)")
    error.reason = message
    if verified:
        vars(error)["verify_message"] = verified
    return error


READ, PROTOCOL = httpx.ReadError, httpx.RemoteProtocolError
#: A failure that a retry would not change, and the reason in the text.
FINAL: list[tuple[Exception, str]] = [
    (connecting(tls("CERTIFICATE_VERIFY_FAILED", verified="certificate has expired")), "certificate has expired"),
    *(
        (
            connecting(tls("CERTIFICATE_VERIFY_FAILED", verified=words)),
            f"{words}: trust the authority of its certificate with ssl_context=",
        )
        for words in ("unable to get local issuer certificate", "self-signed certificate", "self signed certificate")
    ),
    *(
        (connecting(tls(reason)), f"{reason}: the server does not speak TLS: is it http://?")
        for reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
    ),
    (
        connecting(tls("TLSV1_ALERT_NO_APPLICATION_PROTOCOL")),
        'TLSV1_ALERT_NO_APPLICATION_PROTOCOL: offer HTTP/1.1 with set_alpn_protocols(["http/1.1"])',
    ),
    (connecting(tls("TLSV1_ALERT_INTERNAL_ERROR")), "TLSV1_ALERT_INTERNAL_ERROR"),
    *(
        (caused(READ("x"), tls(reason)), reason)
        for reason in ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "TLSV1_ALERT_UNKNOWN_CA", "TLSV1_ALERT_ACCESS_DENIED")
    ),
    (connecting(ssl.SSLError(1, "unknown error (_ssl.c:1000)")), "unknown error"),
    (SettingError("HTTP_PROXY names no proxy"), "HTTP_PROXY names no proxy"),
    (httpx.ProxyError("403 Forbidden"), "the proxy rejects the connection, with status 403"),
    (
        httpx.ProxyError("407 Proxy Authentication Required"),
        "the proxy rejects the connection, with status 407: its URL needs a user and a password that it accepts",
    ),
]
#: Failures after bytes that are not HTTP.
FOREIGN: list[tuple[Exception, str]] = [
    (PROTOCOL(NOT_HTTP), NOT_HTTP),
    # The texts of h11, also for an alert of TLS.
    *(
        (PROTOCOL(message), NOT_HTTP)
        for message in ("illegal status line: bytearray(b'planted')", "illegal request line")
    ),
]
#: Failures after a closed connection without a response.
HUNG_UP: list[tuple[Exception, str]] = [
    (caused(READ("x"), ConnectionResetError(errno.ECONNRESET, "y")), "connection reset by peer"),
    (caused(httpx.WriteError("x"), BrokenPipeError(errno.EPIPE, "y")), "broken pipe"),
    (PROTOCOL(CLOSED), CLOSED),
    (PROTOCOL("Server disconnected without sending a response."), CLOSED),  # the text of h11
]
#: Other failures: a retry may help.
OTHER: list[tuple[Exception, str]] = [
    (caused(READ("x"), tls("TLSV1_ALERT_INTERNAL_ERROR")), ""),
    (caused(READ("x"), tls("BAD_CERTIFICATE")), ""),
    *((connecting(tls("EOF", kind)), "") for kind in (ssl.SSLZeroReturnError, ssl.SSLSyscallError)),
    *((connecting(tls("EOF", kind)), "") for kind in (ssl.SSLWantReadError, ssl.SSLWantWriteError)),
    *((connecting(cause), CLOSED) for cause in (tls("EOF", ssl.SSLEOFError), ConnectionResetError())),
    *((httpx.ProxyError(message), "") for message in ("502 Bad Gateway", "4xx")),
    (connecting(ConnectionRefusedError(errno.ECONNREFUSED, "y")), "connection refused"),
    (connecting(socket.gaierror(socket.EAI_NONAME, "Name or service NOT known")), "name or service not known"),
    (connecting(OSError("planted")), ""),
    (PROTOCOL("planted"), ""),
    (READ(NOT_HTTP), ""),
]


def test_the_text_of_a_failure_has_its_reason_and_a_remedy() -> None:
    """It has the class and the reason of TLS, the system or the proxy, and no text that may be confidential."""
    for error, message in FINAL + FOREIGN + HUNG_UP + OTHER:
        assert kind_of_failure(error) == ": ".join(filter(None, (type(error).__name__, message)))
        assert (why_final(error) is not None) is ((error, message) in FINAL)


def test_an_address_that_may_not_speak_http() -> None:
    """It sends other bytes. Over plain http it may also close the connection: the text asks whether it needs https."""
    for scheme, expected in (("https", FOREIGN), ("http", FOREIGN + HUNG_UP)):
        assert [each for each in FINAL + FOREIGN + HUNG_UP + OTHER if is_not_http(each[0], scheme=scheme)] == expected
    assert not is_not_http(None, scheme="http")
    message = kind_of_failure(HUNG_UP[0][0], may_need_https=True)
    assert message == "ReadError: connection reset by peer: does it need https?"


@pytest.mark.parametrize(("scheme", "speaker"), [("http", "the server"), ("https", "the proxy")])
def test_a_failure_behind_a_proxy_names_it(scheme: str, speaker: str) -> None:
    """If the URL of the proxy is https, a failed handshake is that of the proxy."""
    error = connecting(tls("WRONG_VERSION_NUMBER"))
    error.add_note("another note")
    error.add_note(f"{THROUGH_PROXY}{scheme}://proxy.example")
    message = f"WRONG_VERSION_NUMBER: {speaker} does not speak TLS: is it http://?"
    assert kind_of_failure(error) == f"ConnectError: {message}: through the proxy {scheme}://proxy.example"


@pytest.mark.parametrize(
    ("error", "host", "is_wrong"),
    [
        (connecting(socket.gaierror(socket.EAI_NONAME, "y")), "a.example", True),
        (connecting(socket.gaierror(socket.EAI_AGAIN, "y")), "a.example", False),
        (caused(READ("x"), socket.gaierror(socket.EAI_NONAME, "y")), "a.example", False),
        (connecting(ConnectionRefusedError()), "a.example", False),
        *((connecting(ConnectionRefusedError()), host, True) for host in ("localhost", "127.0.0.9", "::1")),
        (caused(httpx.ConnectTimeout("x"), ExceptionGroup("y", [ConnectionRefusedError()])), "localhost", True),
        (connecting(TimeoutError()), "localhost", False),
        (None, "localhost", False),
    ],
)
def test_an_address_that_is_probably_wrong(error: Exception | None, host: str, is_wrong: bool) -> None:
    """Its host is unknown, or it is a closed port on this machine."""
    assert is_wrong_address(error, host=host) is is_wrong


async def test_a_body_is_sent_with_its_length_and_not_in_chunks() -> None:
    """A streamed body and a body without a stated length are sent with their length, and the other headers stay.

    A head without the length is rejected: the service could parse its body as the next request.
    """

    async def parts() -> AsyncIterator[bytes]:
        yield b"abc"

    streamed = await Request.of(httpx.Request("POST", "https://a.example/", headers={"x": "1"}, content=parts()))
    assert [*streamed.headers.items()][1:] == [("x", "1"), ("content-length", "3")]
    unstated = httpx.Request("POST", "https://a.example/", content=b"ab")
    del unstated.headers["content-length"]
    assert (await Request.of(unstated)).headers["content-length"] == "2"
    stated = httpx.Request("GET", "https://a.example/")
    assert (await Request.of(stated)).raw_headers == stated.headers.raw
    with pytest.raises(httpx.LocalProtocolError, match="Content-Length is not the length of the body"):
        head_of(b"/", header_lines(b"POST", [(b"a", b"1")]), b"abc")


class Parts(httpx.AsyncByteStream):
    """A body in parts. A part may be an error."""

    def __init__(self, *parts: bytes | Exception) -> None:
        self.parts, self.read, self.is_closed = parts, 0, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            self.read += 1
            if isinstance(part, Exception):
                raise part
            yield part
        self.read += 1

    async def aclose(self) -> None:
        """Record it."""
        self.is_closed = True


@pytest.mark.parametrize(
    ("status", "parts", "content", "fault", "read"),
    [
        (200, (b"ab", b"cd"), b"abcd", None, 3),
        (200, (b"ab", b"cde"), b"abcd", "it is larger than max_response_bytes, 4 bytes", 2),
        (200, (b"abcde", b"f"), b"abcd", "it is larger than max_response_bytes, 4 bytes", 1),
        (300, (b"ab", READ("x")), b"ab", None, 2),
        (500, (b"ab", OSError("x")), b"ab", None, 2),
        (299, (b"ab", READ("x")), None, None, 2),
    ],
)
async def test_a_body_is_read_to_its_end_or_its_limit_and_closed(
    status: int, parts: tuple[bytes | Exception, ...], content: bytes | None, fault: str | None, read: int
) -> None:
    """The beginning of a body is kept if it is too large, or breaks off after an error status; a success raises."""
    stream = Parts(*parts)
    response = Response(status, stream=stream)
    with pytest.raises(READ) if content is None else nullcontext():
        await response.read(limit=4)
        assert (response.content, response.fault, response.stream) == (content, fault, None)
    assert (stream.is_closed, stream.read) == (True, read)


async def test_a_large_body_takes_its_memory_once() -> None:
    """The memory of a stated length is reserved, so the body is not copied while it grows."""
    response = Response(200, [(b"Content-Length", b"2000000")], stream=Parts(*[bytes(100_000)] * 20))
    tracemalloc.start()
    await response.read(limit=10_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_100_000


async def test_a_body_is_closed_to_its_end_when_its_reading_is_cancelled() -> None:
    """The cancellation of the read does not cancel the close."""

    class Slow(Parts):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            await asyncio.Event().wait()
            yield b""

        async def aclose(self) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
            self.is_closed = True

    stream = Slow()
    with anyio.CancelScope() as scope:
        asyncio.get_running_loop().call_soon(scope.cancel)
        await Response(200, stream=stream).read(limit=4)
    assert (scope.cancelled_caught, stream.is_closed) == (True, True)
