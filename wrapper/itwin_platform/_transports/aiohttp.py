"""The aiohttp-backed transport of the extra `fast`: less processor time for each request, at any number of tasks.

What it leaves to aiohttp is one attempt, as it stands in the request: no repeats, no cookies, nothing decoded, no
address or header made anew.
"""

import ssl
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import httpx

#: What aiohttp would add to a request that lacks it.
_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
#: The longest line of a head that is read, in bytes; aiohttp's own limit is one that real headers pass.
_LONGEST_LINE = 65_536

Translate = Callable[[Exception], httpx.TransportError]


def fast_transport() -> httpx.AsyncBaseTransport:
    """Returns a transport to give as `PlatformClient(transport=...)`.

    It is explicit, so that tools which watch httpx's own transport keep seeing the calls of those who do not ask.

    Raises:
        ImportError: the extra is not installed; `pip install 'itwin-platform[fast]'` does it.
    """
    try:
        # By name: the types hold in a vendored copy too, where the extra may not be installed.
        return FastTransport(import_module("aiohttp"), url=import_module("yarl").URL)
    except ImportError as error:
        raise ImportError("fast_transport() needs the extra: pip install 'itwin-platform[fast]'") from error


class FastTransport(httpx.AsyncBaseTransport):
    """Sends through a session of aiohttp, which is opened with the first request."""

    #: Cancelling a request closes its connection, with nothing left behind.
    cancels_cleanly = True

    def __init__(self, aiohttp: ModuleType, *, url: Any) -> None:
        self._aiohttp = aiohttp
        self._url = url
        self._session: Any = None
        self._context: ssl.SSLContext | None = None
        #: First match first: a connection that was never made is told from an answer that is lost.
        self._errors: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
            (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
            (aiohttp.ClientConnectorError, httpx.ConnectError),
            (aiohttp.ServerTimeoutError, httpx.ReadTimeout),
            (aiohttp.ClientConnectionError, httpx.ReadError),
            (ValueError, httpx.LocalProtocolError),
        )

    def __repr__(self) -> str:
        return "fast_transport()"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request once.

        Raises:
            httpx.TransportError: of the kind that httpx's own transport raises for it.
        """
        content = await request.aread()
        times = request.extensions.get("timeout", {})
        session = self._session = self._session or self._opened()
        if request.url.scheme == "https" and self._context is None:
            self._context = httpx.create_ssl_context()
        try:
            answer = await session.request(
                request.method,
                self._url(str(request.url), encoded=True),
                # The body is whole: its length is known, whatever it was when the request was written.
                headers=[pair for pair in request.headers.multi_items() if pair[0] != "transfer-encoding"],
                skip_auto_headers=_ADDED,
                data=content or None,
                allow_redirects=False,
                ssl=self._context or True,
                timeout=self._aiohttp.ClientTimeout(
                    connect=times.get("pool"), sock_connect=times.get("connect"), sock_read=times.get("read")
                ),
            )
        except (self._aiohttp.ClientError, ValueError) as error:
            problem = self._translated(error)
        else:
            body = _Body(answer, errors=self._aiohttp.ClientError, translated=self._translated)
            return httpx.Response(answer.status, headers=answer.raw_headers, stream=body)
        # Here, and not where it was caught: aiohttp's errors hold the request, with its token, and would come along.
        raise problem

    def _opened(self) -> Any:
        aiohttp = self._aiohttp
        session = aiohttp.ClientSession(
            # The gate decides how many requests are under way.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        # It repeats a GET whose connection breaks, uncounted; there is no public word against it.
        session._retry_connection = False  # noqa: SLF001
        return session

    def _translated(self, error: Exception) -> httpx.TransportError:
        kinds = (httpx_kind for kind, httpx_kind in self._errors if isinstance(error, kind))
        # The others name the whole address, or what was answered.
        named = str(error) if isinstance(error, self._aiohttp.ClientConnectorError) else type(error).__name__
        return next(kinds, httpx.RemoteProtocolError)(named)

    async def aclose(self) -> None:
        """Closes the session."""
        if self._session is not None:
            await self._session.close()


class _Body(httpx.AsyncByteStream):
    """The body of an answer as it comes in."""

    def __init__(self, answer: Any, *, errors: type[Exception], translated: Translate) -> None:
        self._answer, self._errors, self._translated = answer, errors, translated

    async def __aiter__(self) -> AsyncIterator[bytes]:
        problem: httpx.TransportError | None = None
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except self._errors as error:
            problem = self._translated(error)
        if problem is not None:
            raise problem

    async def aclose(self) -> None:
        """Gives the connection back, or closes it where the body was not read to its end."""
        await self._answer.wait_for_close()
