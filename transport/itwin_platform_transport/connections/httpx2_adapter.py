"""Attempts through clients and transports of httpx2. httpx2 itself is never imported here.

httpx2 has the names of httpx, and classes of its own. A caller who passes an object of it has imported it.
"""

from collections.abc import AsyncIterator, Awaitable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Never, Protocol

import httpx

from .messages import Request, Response, Sending, as_httpx, send_through


class HTTPX2Client(Protocol):
    """An `httpx2.AsyncClient`, for type checkers: httpx2 need not be installed."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
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


class HTTPX2Adapter:
    """Sends through a transport of httpx2. Its exceptions become those of httpx with the same names.

    Args:
        transport: a transport of httpx2.
        library: the module httpx2.
    """

    def __init__(self, transport: Any, library: ModuleType) -> None:
        self._transport, self._library = transport, library

    async def send(self, request: Request, sending: Sending) -> Response:
        """Send one attempt.

        Raises:
            httpx.HTTPError: as a transport of httpx raises it, from the exception of httpx2.
        """
        with _exceptions_of_httpx(self._library, request):
            response = await send_through(self._transport, request, sending, self._library)
        response.stream = _Body(response.stream, self._library, request)
        return response

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpx2, as it comes."""

    def __init__(self, stream: Any, library: ModuleType, request: Request) -> None:
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
def _exceptions_of_httpx(library: ModuleType, request: Request) -> Generator[None]:
    try:
        yield
    except (library.HTTPError, library.StreamError, library.InvalidURL, library.CookieConflict) as error:
        raise _as_httpx_error(error, library, request) from error


def _as_httpx_error(error: Any, library: ModuleType, request: Request) -> Exception:
    """Return the exception of httpx with the name of an exception of httpx2, or with that of its nearest base class."""
    names = (base.__name__ for base in type(error).__mro__ if getattr(library, base.__name__, None) is base)
    kind: type[Exception] = next(getattr(httpx, name) for name in names if hasattr(httpx, name))
    if kind is httpx.HTTPStatusError:
        response = httpx.Response(error.response.status_code, headers=error.response.headers.raw)
        return httpx.HTTPStatusError(str(error), request=as_httpx(request, Sending()), response=response)
    has_own_text = issubclass(kind, httpx.StreamError) and kind is not httpx.StreamError
    arguments = () if has_own_text else (str(error),)
    return kind(*arguments)
