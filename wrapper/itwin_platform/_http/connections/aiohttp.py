"""The aiohttp-backed transport of the extra `fast`: less processor time for each request, at any number of tasks.

It makes one attempt and sends the request as it stands: retries, cookies, redirects, decoding and headers that aiohttp
would add are off.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

import httpx

from .aiohttp_connector import connector_class
from .aiohttp_responses import LONGEST_HEAD
from .lazy import LazyRequest, LazyResponse, with_known_length

#: What aiohttp would add to a request that lacks it; the type of a body only where there is one.
_ADDED = frozenset({"Accept", "Accept-Encoding", "User-Agent", "Content-Type"})
_ADDED_WITHOUT_BODY = _ADDED - {"Content-Type"}
#: A body up to this size, in bytes, goes to the event loop at once; a larger one in pieces of this size.
_PIECE = 65_536


def fast_transport(
    *,
    ssl_context: ssl.SSLContext | None = None,
    proxy: str | None = None,
    limits: httpx.Limits | None = None,
) -> httpx.AsyncBaseTransport:
    """Return a transport on aiohttp, for `PlatformClient(transport=...)`: it takes less processor time.

    It is explicit, because tools that watch httpx's own transport do not see its requests.

    Args:
        ssl_context: the certificates to trust and to show; those of `SSL_CERT_FILE`, `SSL_CERT_DIR` or certifi by
            default, as httpx chooses them.
        proxy: the URL of an HTTP proxy, such as `http://user:password@proxy.example:3128`. The environment's proxies
            are not used.
        limits: `max_connections` (default: as many as the gate allows) and `keepalive_expiry` (default: 5 seconds).

    Returns:
        A transport for one client, which closes it.

    Raises:
        ImportError: aiohttp is not installed; the extra `fast` brings it.

    Example:
        ```python
        platform = PlatformClient(transport=fast_transport())
        ```
    """
    try:
        # By name: the types hold in a vendored copy too, where the extra may not be installed.
        aiohttp, url = import_module("aiohttp"), import_module("yarl").URL
    except ImportError as error:
        raise ImportError("fast_transport() needs aiohttp: run `pip install aiohttp`") from error
    return FastTransport(
        aiohttp, url=url, ssl_context=ssl_context, proxy=proxy, limits=limits or httpx.Limits(max_connections=None)
    )


class FastTransport(httpx.AsyncBaseTransport):
    """Sends through a session of aiohttp, which is opened with the first request."""

    #: Cancelling a request closes its connection, with nothing left behind.
    cancels_cleanly = True

    def __init__(
        self,
        aiohttp: ModuleType,
        *,
        url: Any,
        ssl_context: ssl.SSLContext | None,
        proxy: str | None,
        limits: httpx.Limits,
    ) -> None:
        self._aiohttp = aiohttp
        self._url = url
        self._context = ssl_context
        self._reading = asyncio.Lock()
        self._proxy = proxy
        self._limits = limits
        self._session: Any = None
        self._connector: Any = None
        self._timeout = lru_cache(maxsize=16)(self._timeout_of)
        #: First match first: a connection that was never made differs from a response that is lost.
        self._errors: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
            (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
            (aiohttp.ClientHttpProxyError, httpx.ProxyError),
            (aiohttp.ClientConnectorError, httpx.ConnectError),
            (aiohttp.ServerTimeoutError, httpx.ReadTimeout),
            (aiohttp.ClientConnectionError, httpx.ReadError),
            (TimeoutError, httpx.WriteTimeout),
            (ValueError, httpx.LocalProtocolError),
        )

    def __repr__(self) -> str:
        return "fast_transport()"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request once.

        Raises:
            httpx.TransportError: of the kind that httpx's own transport raises for it.
        """
        content = await request.aread()
        times = request.extensions.get("timeout", {})
        session = self._session = self._session or self._open_session()
        if self._context is None and request.url.scheme == "https":
            await self._read_certificates()
        options = {
            **_headers_of(request, content),
            "allow_redirects": False,
            "ssl": self._context or True,
            "proxy": self._proxy,
            "timeout": self._timeout(times.get("connect"), times.get("pool"), times.get("read")),
        }
        url = self._url(request.address if isinstance(request, LazyRequest) else str(request.url), encoded=True)
        try:
            if len(content) <= _PIECE:
                # As aiohttp's own type: it would search for it by what it is given.
                data = self._aiohttp.BytesPayload(content) if content else None
                response = await session.request(request.method, url, data=data, **options)
            else:
                # In pieces, each of which must be taken in time: aiohttp has no time limit for that.
                async with asyncio.timeout(None) as limit:
                    data = _pieces(content, limit, times.get("write"))
                    response = await session.request(request.method, url, data=data, **options)
        except BaseException as error:
            self.abort_closing()
            if not isinstance(error, (self._aiohttp.ClientError, TimeoutError, ValueError)):
                raise
            problem = self.translated(error)
        else:
            return LazyResponse(response.status, response.raw_headers, stream=_Body(response, self))
        # Here, and not where it was caught: aiohttp's errors hold the request, with its token, and would come along.
        raise problem

    async def _read_certificates(self) -> None:
        # In a thread: it takes 20 ms and more, in which the event loop continues.
        async with self._reading:
            self._context = self._context or await asyncio.to_thread(httpx.create_ssl_context)

    def _timeout_of(self, connect: float | None, pool: float | None, read: float | None) -> Any:
        if self._limits.max_connections is not None:
            # aiohttp has one limit for both: waiting for a connection, and making one.
            connect = None if connect is None or pool is None else connect + pool
        return self._aiohttp.ClientTimeout(connect=connect, sock_read=read)

    def _open_session(self) -> Any:
        aiohttp = self._aiohttp
        self._connector = connector_class(aiohttp)(
            limit=self._limits.max_connections or 0, keepalive_timeout=self._limits.keepalive_expiry
        )
        session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            # The filter of responses limits heads; aiohttp's own limits are ones that real responses pass.
            max_line_size=LONGEST_HEAD,
            max_field_size=LONGEST_HEAD,
            max_headers=LONGEST_HEAD,
        )
        # It retries a GET whose connection breaks, uncounted; there is no public argument against it.
        if not hasattr(session, "_retry_connection"):
            raise RuntimeError("this version of aiohttp retries by itself, and cannot be configured not to: use 3.14")
        session._retry_connection = False  # noqa: SLF001
        return session

    def abort_closing(self) -> None:
        """Let nothing more be sent on connections that aiohttp is closing."""
        self._connector.abort_closing()

    def translated(self, error: BaseException) -> httpx.TransportError:
        """Return the error of httpx for one of aiohttp."""
        kinds = (httpx_kind for kind, httpx_kind in self._errors if isinstance(error, kind))
        # The others name the complete address, or what was received.
        named = str(error) if isinstance(error, self._aiohttp.ClientConnectorError) else type(error).__name__
        problem = next(kinds, httpx.RemoteProtocolError)(named)
        if isinstance(tls := error.__cause__, ssl.SSLError):
            problem.__cause__ = tls.with_traceback(None)
        return problem

    async def aclose(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self.abort_closing()


def _headers_of(request: httpx.Request, content: bytes) -> dict[str, Any]:
    """Return the headers of a request as aiohttp's options; aiohttp adds none to them."""
    plain = request.plain_headers if isinstance(request, LazyRequest) else None
    if plain is not None and plain.keys() >= (_ADDED if content else _ADDED_WITHOUT_BODY):
        return {"headers": plain}
    pairs = with_known_length(request.headers).multi_items()
    if content and "content-length" not in request.headers:
        # Without it aiohttp would send a large body in chunks.
        pairs.append(("content-length", str(len(content))))
    # aiohttp copies all headers to find out what not to add: only for requests that lack some.
    return {"headers": pairs, "skip_auto_headers": _ADDED}


async def _pieces(content: bytes, limit: asyncio.Timeout, seconds: float | None) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    for start in range(0, len(content), _PIECE):
        _restart(limit, None if seconds is None else loop.time() + seconds)
        yield content[start : start + _PIECE]
    _restart(limit, None)


def _restart(limit: asyncio.Timeout, when: float | None) -> None:
    # It has ended when the service has responded before it had the complete body.
    with suppress(RuntimeError):
        limit.reschedule(when)


class _Body(httpx.AsyncByteStream):
    """The body of a response as it comes in."""

    def __init__(self, response: Any, transport: FastTransport) -> None:
        self._response, self._transport = response, transport

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk: bytes = await self._response.content.readany()
        except Exception as error:  # noqa: BLE001  # aiohttp's parser in Python raises errors that are no ClientError
            problem = self._transport.translated(error)
        else:
            if not chunk:
                raise StopAsyncIteration
            return chunk
        raise problem

    async def aclose(self) -> None:
        """Give the connection back, or close it when the body was not read to its end."""
        # A response that was received to its end has given its connection back already.
        if self._response.connection is not None:
            self._response.close()
            self._transport.abort_closing()
