"""Clients and transports of httpx2 behind the interface of an httpx transport. httpx2 itself is never imported here.

httpx2 has the names of httpx, and classes of its own. A caller who passes an object of it has imported it.
"""

from collections.abc import AsyncIterator, Awaitable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Never, Protocol

import httpx

from .messages import BodyStream, without_encoding


class HTTPX2Client(Protocol):
    """An `httpx2.AsyncClient`, for type checkers: httpx2 need not be installed."""

    @property
    def is_closed(self) -> bool:
        """Whether it sends nothing any more."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class HTTPX2Transport(Protocol):
    """An `httpx2.AsyncBaseTransport`, for type checkers: httpx2 need not be installed."""

    def handle_async_request(self, request: Never, /) -> Awaitable[object]:
        """Send one `httpx2.Request`, and return its `httpx2.Response`."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class HTTPX2Timeout(Protocol):
    """An `httpx2.Timeout`, for type checkers: httpx2 need not be installed."""

    def as_dict(self) -> dict[str, float | None]:
        """Return its limits in seconds, by name."""
        ...


class HTTPX2Adapter(httpx.AsyncBaseTransport):
    """Sends through a transport of httpx2. Its responses and exceptions become those of httpx with the same names.

    Args:
        transport: what sends an `httpx2.Request`.
        library: the module httpx2.
    """

    def __init__(self, transport: Any, library: ModuleType) -> None:
        self._transport, self._library = transport, library

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one attempt.

        Raises:
            httpx.HTTPError: as a transport of httpx raises it, from the exception of httpx2.
        """
        with _exceptions_of_httpx(self._library, request):
            response = await self._transport.handle_async_request(self._as_httpx2(request))
            return await self._as_httpx(response, request)

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()

    def _as_httpx2(self, request: httpx.Request) -> Any:
        # As a stream that is complete: httpx2 would state its length, also where there is none.
        made = self._library.Request(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            stream=self._library.ByteStream(request.content),
            extensions=request.extensions,
        )
        made.read()
        return made

    async def _as_httpx(self, response: Any, request: httpx.Request) -> httpx.Response:
        headers = httpx.Headers(response.headers.raw)
        stream: BodyStream = _Body(response.stream, self._library, request)
        if has_content := _has_content(response, self._library):
            # An event hook or a transport has read the body, and thereby decoded and closed it.
            headers, stream = without_encoding(headers), httpx.ByteStream(response.content)
        made = httpx.Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)
        if has_content:
            await made.aread()
        made.is_stream_consumed = response.is_stream_consumed
        return made


def _has_content(response: Any, library: ModuleType) -> bool:
    try:
        return response.content is not None
    except library.ResponseNotRead:
        return False


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpx2, as it comes."""

    def __init__(self, stream: Any, library: ModuleType, request: httpx.Request) -> None:
        self._stream, self._library, self._request = stream, library, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _exceptions_of_httpx(self._library, self._request):
            async for chunk in self._stream:
                yield chunk

    async def aclose(self) -> None:
        """Give the connection back."""
        with _exceptions_of_httpx(self._library, self._request):
            await self._stream.aclose()


@contextmanager
def _exceptions_of_httpx(library: ModuleType, request: httpx.Request) -> Generator[None]:
    try:
        yield
    except (library.HTTPError, library.StreamError, library.InvalidURL, library.CookieConflict) as error:
        raise _as_httpx_error(error, library, request) from error


def _as_httpx_error(error: Any, library: ModuleType, request: httpx.Request) -> Exception:
    """Return the exception of httpx with the name of an exception of httpx2, or with that of its nearest base class."""
    names = (each.__name__ for each in type(error).__mro__ if getattr(library, each.__name__, None) is each)
    kind: type[Exception] = next(getattr(httpx, name) for name in names if hasattr(httpx, name))
    if kind is httpx.HTTPStatusError:
        response = httpx.Response(error.response.status_code, headers=error.response.headers.raw)
        return httpx.HTTPStatusError(str(error), request=request, response=response)
    has_own_text = issubclass(kind, httpx.StreamError) and kind is not httpx.StreamError
    arguments = () if has_own_text else (str(error),)
    return kind(*arguments)
