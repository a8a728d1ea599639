"""The default transport: an HTTP/1.1 engine, and how a caller's client or transport takes its place.

The default transport sends by the fastest of three routes that every installed instrumentation can observe:

- By the engine, if nothing observes httpx and no proxy applies.
- Through the functions of httpx, over the connections of the engine, while one of them is replaced, as tracers and
  mocks do: `httpx.AsyncClient.send`, or `httpx.AsyncHTTPTransport.handle_async_request`.
- Through the transport and the connections of httpx, where a proxy of the environment applies, and while a function of
  httpcore is replaced.
"""

import asyncio
import itertools
import socket
import ssl
import string
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from ..errors import UsageError
from .environment import EnvironmentProxies, Proxy, default_certificates
from .failures import NO_RESPONSE, THROUGH_PROXY, SettingError
from .given_client import ClientTransport, given_client, given_transport
from .hosts import address_of, is_loopback, name_of
from .httpx2_adapter import HTTPX2Adapter, HTTPX2Client, HTTPX2Transport
from .messages import FRAMING, Origin, RawHeaders, Request, Response, Sending, send_through, sending_of, without_dot

if TYPE_CHECKING:
    from .connection import Connection

P = TypeVar("P", bound=asyncio.BaseProtocol)

#: Seconds after which the next address of a host is tried in parallel. Source: RFC 8305, section 5.
_NEXT_AFTER = 0.25
#: Most idle connections. Above this number, the longest idle one is closed if it leads to another origin than the one
#: used last. Those to one origin are limited by the requests in flight.
_MAX_IDLE = 100
_PORTS = {b"http": 80, b"https": 443}
#: The characters of methods and of header names. Source: RFC 9110, section 5.6.2.
_TOKEN_BYTES = b"!#$%&'*+-.^_`|~" + (string.digits + string.ascii_letters).encode()
#: The bytes of header lines: tabs, visible ASCII, and the bytes above ASCII.
_LINE_BYTES = b"\t" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))
#: The bytes of request targets.
_TARGET_BYTES = bytes(range(0x21, 0x7F))

#: The parts of a head around its target, None if one is illegal; and the headers that state where the body ends.
HeaderLines = tuple[tuple[bytes, bytes] | None, list[tuple[bytes, bytes]]]


class EngineTransport(httpx.AsyncBaseTransport):
    """The default transport of a client: HTTP/1.1, without retries, through the proxies that the environment names.

    It works in any `httpx.AsyncClient(transport=...)`. To change each request, wrap it in a transport, or derive one:

        class Signing(EngineTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                request.headers["X-Signature"] = signature_of(request)
                return await super().handle_async_request(request)

        platform = PlatformClient(transport=Signing())

    Args:
        ssl_context: the certificates to trust and to show; by default those of httpx.
        trust_env: whether to use the proxies that the environment names, and its certificates if no context is passed.
        wall_clock: returns seconds, also those of a suspend, for which the clock of the event loop may stand still.

    Raises:
        UsageError: an argument has another type.
    """

    def __init__(
        self,
        ssl_context: ssl.SSLContext | None = None,
        *,
        trust_env: bool = True,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        if ssl_context is not None and not isinstance(ssl_context, ssl.SSLContext):
            raise UsageError(
                "ssl_context must be an ssl.SSLContext, such as ssl.create_default_context() returns",
                argument="ssl_context",
            )
        if not isinstance(trust_env, bool):
            raise UsageError("trust_env must be True or False", argument="trust_env")
        self._pool = Pool(ssl_context, trust_env=trust_env, wall_clock=wall_clock)
        self._proxies = EnvironmentProxies.read() if trust_env else None
        self._watched = WatchedTransport(self._pool)
        self._of_httpx: dict[Proxy | None, httpx.AsyncHTTPTransport] = {}

    def __repr__(self) -> str:
        return f"EngineTransport({self._pool!r})"

    @property
    def cancels_cleanly(self) -> bool:
        """Whether an attempt may be cancelled at any `await`. The connections of httpx need protection."""
        return self._proxies is None and not _is_watched_below()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request once, and return when the head of its response has come.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        response = await self.send(await Request.of(request), sending_of(request.extensions))
        if response.is_read and response.fault is None:
            # A tool has read and decoded it.
            await response.read(limit=len(response.content))
        made = response.as_httpx()
        if response.fault is not None:
            # A tool has consumed the body without keeping it. Consume it here too: it must not look like an empty body.
            await anext(made.aiter_raw(), None)
        return made

    def send(self, request: Request, sending: Sending) -> Awaitable[Response]:
        """Send one attempt, and return when the head of its response has come.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        if self._proxies is not None or _is_watched():
            return self._send_by_httpx(request, sending)
        pool, content = self._pool, request.content
        head = head_of(request.target, pool.lines_of(request.method.encode(), tuple(request.raw_headers)), content)
        return pool.send(request.origin, head, content, request.extensions, sending)

    async def _send_by_httpx(self, request: Request, sending: Sending) -> Response:
        proxy = None if self._proxies is None else self._proxies.proxy_for(request.url)
        transport: httpx.AsyncBaseTransport = self._watched
        if proxy is not None or _is_watched_below():
            await self._read_certificates(request.extensions, sending)
            transport = await self._through(proxy)
            request = replace(request, origin=without_dot(request.origin))
        if _is_replaced(httpx.AsyncClient.send, "httpx."):
            client = httpx.AsyncClient(transport=transport, trust_env=False)
            client.headers.clear()
            transport = ClientTransport(client)
        try:
            return await send_through(transport, request, sending)
        except NO_RESPONSE as error:
            if proxy is not None:
                error.add_note(f"{THROUGH_PROXY}{proxy.url}")
            raise

    async def _read_certificates(self, extensions: Mapping[str, Any], sending: Sending) -> None:
        """Read the default certificates within the time limit of connecting. This writes nothing of the request."""
        sending.connects()
        try:
            async with asyncio.timeout(extensions.get("timeout", {}).get("connect")):
                await self._pool.certificates()
        except TimeoutError as error:
            raise httpx.ConnectTimeout("the certificates were not read in time") from error
        # From here on, the transport of httpx reports to `sending`, unless a tool has replaced it.
        sending.may_have_begun = True

    async def _through(self, proxy: Proxy | None) -> httpx.AsyncHTTPTransport:
        from .connection import KEEPALIVE

        if proxy not in self._of_httpx:
            context = await self._pool.certificates()
            # No limit of connections: the gate limits the requests in flight.
            limits = httpx.Limits(keepalive_expiry=KEEPALIVE)
            try:
                made = httpx.AsyncHTTPTransport(
                    verify=context, limits=limits, proxy=None if proxy is None else proxy.for_httpx(context)
                )
            except ImportError:
                raise SettingError("the environment names a SOCKS proxy, which needs the package socksio") from None
            self._of_httpx.setdefault(proxy, made)
        return self._of_httpx[proxy]

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await self._pool.aclose()
        for transport in self._of_httpx.values():
            await transport.aclose()


class WatchedTransport(httpx.AsyncHTTPTransport):
    """Sends through httpx's own class, which tools watch, over the connections of a `Pool`."""

    def __init__(self, pool: "Pool") -> None:
        # Not through the constructor of httpx, which reads certificates and makes a pool: it has no argument for one.
        self._pool: Any = pool


def _is_watched() -> bool:
    functions = httpx.AsyncHTTPTransport.handle_async_request, httpx.AsyncClient.send
    return functions != _UNREPLACED or _is_watched_below()  # a comparison: see the row "GET" of docs/benchmarks.md


def _is_watched_below() -> bool:
    # httpx imports httpcore for its own transports alone. A tool that replaces a function of httpcore has imported it.
    httpcore = sys.modules.get("httpcore")
    return httpcore is not None and (
        _is_replaced(httpcore.AsyncConnectionPool.handle_async_request, "httpcore.")
        or _is_replaced(httpcore.AsyncHTTPConnection.handle_async_request, "httpcore.")
    )


def _is_replaced(method: object, prefix: str) -> bool:
    # A replacement is either not a plain function or was defined in another package.
    return type(method) is not FunctionType or not method.__globals__.get("__name__", "").startswith(prefix)


_AT_IMPORT = httpx.AsyncHTTPTransport.handle_async_request, httpx.AsyncClient.send
#: The functions that `_is_watched` expects: both, unless a tool had replaced one before this module was imported.
_UNREPLACED = tuple(function for function in _AT_IMPORT if not _is_replaced(function, "httpx."))


class Pool:
    """The connection pool of a transport. The idle connection of an origin that was used last serves the next request.

    It does not limit open connections: the gate limits the requests in flight.
    """

    def __init__(self, ssl_context: ssl.SSLContext | None, *, trust_env: bool, wall_clock: Callable[[], float]) -> None:
        self._context, self._trust_env, self._wall_clock = ssl_context, trust_env, wall_clock
        self._reading = asyncio.Lock()
        #: Cached, because nearly all requests have the headers of an earlier one.
        self.lines_of: Callable[[bytes, RawHeaders], HeaderLines] = lru_cache(maxsize=32)(header_lines)
        self._open: set[Connection] = set()
        #: The idle connections, the longest idle first.
        self._idle: list[Connection] = []
        self._is_closed = self._was_used = False

    def __repr__(self) -> str:
        return f"in_use={len(self._open) - len(self._idle)}, idle={len(self._idle)}"

    async def handle_async_request(self, request: Any) -> SimpleNamespace:
        """Send an `httpcore.Request` once, and return the attributes of an `httpcore.Response` that httpx uses.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        content = b"".join([part async for part in request.stream])
        head = head_of(request.url.target, self.lines_of(request.method, tuple(request.headers)), content)
        origin = Origin(request.url.scheme, request.url.host, request.url.port)
        response = await self.send(origin, head, content, request.extensions, sending_of(request.extensions))
        stream = response.stream or httpx.ByteStream(response.content)
        return SimpleNamespace(
            status=response.status_code, headers=response.raw_headers, stream=stream, extensions=response.extensions
        )

    async def send(
        self, origin: Origin, head: bytes, content: bytes, extensions: Mapping[str, Any], sending: Sending
    ) -> Response:
        """Send a request once, with the time limits of its extensions.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        times: Mapping[str, float | None] = extensions.get("timeout", {})
        idle = connection = self._take(origin)
        if connection is None:
            sending.connects()
            connection = await self._connect(origin, times.get("connect"))
            sending.writes()
        try:
            await connection.send(head, content, times)
        except BaseException:
            self._close(connection)
            raise
        info = {
            "http_version": connection.http_version,
            "network_stream": connection,
            "connection_was_idle": idle is not None,
        }
        if idle is not None and idle.status == 408:
            # The server gave up waiting for a request. It will do so on its other idle connections too.
            for other in [candidate for candidate in self._idle if candidate.origin == origin]:
                self._idle.remove(other)
                self._close(other)
        response = Response(connection.status, connection.headers, extensions=info)
        if connection.state in ("done", "closed"):
            # The whole response has arrived: the connection is free before the caller reads the body.
            response.content = connection.received()
            self.give_back(connection)
        else:
            response.stream = Body(self, connection, times.get("read"))
        return response

    def _take(self, origin: Origin) -> "Connection | None":
        for index in reversed(range(len(self._idle))):
            if self._idle[index].origin == origin:
                connection = self._idle.pop(index)
                if connection.is_usable(self._wall_clock()):
                    return connection
                self._close(connection)
        return None

    async def _connect(self, origin: Origin, seconds: float | None) -> "Connection":
        # Imported by the first request: see docs/decisions/lazy-imports.md.
        from .connection import Connection

        self._was_used = True
        scheme, host, port = origin
        if scheme not in _PORTS or not host:
            raise httpx.UnsupportedProtocol("the URL must begin with http:// or https://, and name a host")
        try:
            async with asyncio.timeout(seconds):
                context = await self.certificates() if scheme == b"https" else None
                make = partial(Connection, origin)
                connection = await connect(make, host.decode("ascii"), port or _PORTS[scheme], context=context)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error) or "no connection in time") from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        except ValueError as error:
            # The name has an empty label, or a label that is too long.
            raise httpx.LocalProtocolError("the host of the URL is no valid name") from error
        if context is not None:
            _check_protocol(connection)
        self._open.add(connection)
        if self._is_closed:
            self._close(connection)
            raise httpx.ConnectError("the transport was closed")
        return connection

    async def certificates(self) -> ssl.SSLContext:
        """Return the TLS context; the default one is made once.

        Raises:
            httpx.LocalProtocolError: its certificates cannot be read.
        """
        async with self._reading:
            if self._context is None:
                # In a thread, because it takes 20 ms and more.
                self._context = await asyncio.to_thread(default_certificates, trust_env=self._trust_env)
            return self._context

    def give_back(self, connection: "Connection") -> None:
        """Take back a connection after its response, and close connections that have been idle for too long."""
        connection.release(now := asyncio.get_running_loop().time(), self._wall_clock())
        if connection.state == "idle":
            self._idle.append(connection)
        else:
            self._close(connection)
        idle = self._idle
        while idle and (now >= idle[0].usable_until or (len(idle) > _MAX_IDLE and idle[0].origin != connection.origin)):
            self._close(idle.pop(0))

    def _close(self, connection: "Connection") -> None:
        self._open.discard(connection)
        connection.close()

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        self._is_closed = True
        self._idle.clear()
        for connection in list(self._open):
            self._close(connection)
        if self._was_used:
            # The event loop closes sockets in its next iteration, also the sockets of failed handshakes.
            await asyncio.sleep(0)


def _check_protocol(connection: "Connection") -> None:
    """Close a connection on which the other side expects another protocol than HTTP/1.1.

    Raises:
        SettingError: the context offers one by ALPN, and the other side has selected it.
    """
    selected = connection.get_extra_info("ssl_object").selected_alpn_protocol()
    if selected not in (None, "http/1.1"):
        connection.close()
        raise SettingError(
            f"the service selected {selected} by ALPN, and the client speaks HTTP/1.1: pass an ssl_context that no "
            'client with HTTP/2 uses, or call its set_alpn_protocols(["http/1.1"])'
        )


class Body(httpx.AsyncByteStream):
    """The body of a response as it arrives; its end gives the connection back."""

    def __init__(self, pool: Pool, connection: "Connection", seconds: float | None) -> None:
        self._pool, self._connection, self._seconds = pool, connection, seconds
        self._is_closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        data = b"" if self._is_closed else await self._connection.read(self._seconds)
        if not data:
            await self.aclose()
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        """Give the connection back; unless the body was read to its end, that closes it."""
        if not self._is_closed:
            self._is_closed = True
            self._pool.give_back(self._connection)


def header_lines(method: bytes, headers: RawHeaders) -> HeaderLines:
    """Return the parts of a head that many requests share, before and after its target, checked."""
    names, lines = [name for name, _ in headers], b"".join([b"%s: %s\r\n" % pair for pair in headers])
    # Without the legal bytes of lines, only the line ends may remain.
    is_legal = all(names) and lines.translate(None, _LINE_BYTES) == b"\r\n" * len(names)
    is_legal = is_legal and method != b"" and not b"".join([method, *names]).translate(None, _TOKEN_BYTES)
    stated = [(name.lower(), value) for name, value in headers if name.lower() in FRAMING]
    return (method + b" ", b" HTTP/1.1\r\n%s\r\n" % lines) if is_legal else None, stated


def head_of(target: bytes, headers: HeaderLines, content: bytes) -> bytes:
    """Return the head of a request, which states the length of its body.

    Raises:
        httpx.LocalProtocolError: a part is illegal: a server could read another head, or two requests.
    """
    around, stated = headers
    if (stated or content) and stated != [(b"content-length", b"%d" % len(content))]:
        raise httpx.LocalProtocolError("Content-Length is not the length of the body")
    if around is None or target.translate(None, _TARGET_BYTES):
        raise httpx.LocalProtocolError("the method, the URL or a header has characters that HTTP does not allow")
    before, after = around
    return before + target + after


async def connect(make: Callable[[], P], host: str, port: int, *, context: ssl.SSLContext | None) -> P:
    """Connect to the first address of a host that accepts the connection, with the TLS handshake if there is a context.

    No socket is left open, whenever the caller is cancelled. The race of asyncio, `happy_eyeballs_delay`, leaves one
    open when it is cancelled: seen in Python 3.11. That of aiohappyeyeballs 2.7.1 ignores a cancellation that comes
    while it ends the attempts that lost.

    Raises:
        OSError: the host has no address, or none of its addresses accepts the connection.
        ValueError: the host is no valid name.
    """
    loop = asyncio.get_running_loop()
    addresses = await addresses_of(host, port)

    async def connected(address: str) -> tuple[asyncio.Transport, P]:
        name = None if context is None else name_of(host)
        return await loop.create_connection(make, address, port, ssl=context, server_hostname=name)

    if len(addresses) == 1:
        return (await connected(addresses[0]))[1]
    attempts: set[asyncio.Task[tuple[asyncio.Transport, P]]] = set()
    failures: list[BaseException] = []
    try:
        while addresses or attempts:
            if addresses:
                attempts.add(loop.create_task(connected(addresses.pop(0))))
            ended, _ = await asyncio.wait(
                attempts, timeout=_NEXT_AFTER if addresses else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in ended:
                attempts.discard(attempt)
                if (failure := attempt.exception()) is None:
                    return attempt.result()[1]
                failures.append(failure)
        raise OSError("; ".join(dict.fromkeys(map(str, failures)))) from _tls_failures(failures) or failures[0]
    except asyncio.CancelledError as ended:
        # The connect timeout may have ended this: its error keeps the reason why TLS failed at another address.
        ended.__cause__ = _tls_failures(failures)
        raise
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_abort_connected)


def _tls_failures(failures: list[BaseException]) -> ExceptionGroup[ssl.SSLError] | None:
    # A retry does not change a rejected certificate, whatever happens at the other addresses of the host.
    return BaseExceptionGroup("addresses", failures).subgroup(ssl.SSLError) if failures else None


def _abort_connected(attempt: "asyncio.Task[tuple[asyncio.Transport, Any]]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result()[0].abort()


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host, of IPv4 and IPv6 in turn; of an IP address, only itself.

    Raises:
        OSError: the host is not known, or has no address.
        ValueError: the host is no valid name: a label is empty, or too long.
    """
    if is_loopback(host):
        # Not every resolver finds localhost with a dot, or a loopback address with a zone.
        host = name_of(host)
    if (literal := address_of(host)) is not None:
        return [str(literal)]
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not entries:
        raise OSError("the host has no address")
    by_family: dict[int, list[str]] = {}
    for family, *_, address in entries:
        by_family.setdefault(family, []).append(str(address[0]))
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_family.values()))
    return list(dict.fromkeys(address for address in in_turn if address is not None))


def innermost(
    transport: httpx.AsyncBaseTransport | HTTPX2Transport | None,
    http_client: httpx.AsyncClient | HTTPX2Client | None,
    ssl_context: ssl.SSLContext | None,
    *,
    trust_env: bool,
) -> httpx.AsyncBaseTransport | HTTPX2Adapter:
    """Return the transport of single attempts: the one that the caller passed, or the default.

    Raises:
        UsageError: an argument is of another library, or two of them exclude each other.
    """
    if transport is not None and http_client is not None:
        raise UsageError(
            "transport and http_client exclude each other: an http_client has its own transport", argument="transport"
        )
    is_default = transport is None and http_client is None
    for name, is_given in (("ssl_context", ssl_context is not None), ("trust_env", trust_env is not True)):
        if is_given and not is_default:
            raise UsageError(
                f"{name} applies to the client's own connections: pass it to the transport or http_client instead",
                argument=name,
            )
    if http_client is not None:
        return given_client(http_client)
    return EngineTransport(ssl_context, trust_env=trust_env) if transport is None else given_transport(transport)


def sender_of(transport: httpx.AsyncBaseTransport | HTTPX2Adapter) -> Callable[[Request, Sending], Awaitable[Response]]:
    """Return the function that sends one attempt through a transport."""
    # A subclass of the engine may change the request, so it receives an `httpx.Request`.
    if isinstance(transport, HTTPX2Adapter) or type(transport) is EngineTransport:
        return transport.send
    return partial(send_through, transport)
