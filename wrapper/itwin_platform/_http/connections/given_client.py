"""What a caller may pass, a client, a transport or a timeout of httpx, and what transports on httpcore need.

Their connections are closed when surplus has arrived on them, and protected when a task is cancelled.
"""

import asyncio
import ssl
from collections.abc import Coroutine, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import anyio
import httpx

from ..._errors import StateError, UsageError
from ..._version import LOG
from .engine import EngineTransport

T = TypeVar("T")

#: What is accepted, under names that do not say which library it comes from.
HTTPClient = httpx.AsyncClient
HTTPTransport = httpx.AsyncBaseTransport
Timeout = httpx.Timeout
SSLContext = ssl.SSLContext

#: What httpx limits in an attempt.
_LIMITS = ("connect", "read", "write", "pool")
#: A tuple: writing `int | float` makes a new object in each call, and `with_options` makes many.
_NUMBERS = (int, float)
#: The longest timeout in seconds: a year. Timers overflow at longer ones.
_LONGEST = 31_536_000
#: Attributes in which httpx 0.27 and 0.28, httpcore 1 and most wrappers keep what they wrap.
_INNER = ("_stream", "_httpcore_stream", "_connection")
#: How many wrappers are looked into.
_DEPTH = 12


def innermost(
    transport: HTTPTransport | None, http_client: HTTPClient | None, ssl_context: SSLContext | None
) -> HTTPTransport:
    """Return what makes single attempts: what the caller passed, or the default.

    Raises:
        UsageError: the client is one of another library, or two of them exclude each other.
    """
    if transport is not None and http_client is not None:
        raise UsageError(
            "transport and http_client exclude each other: an http_client has its own transport", argument="transport"
        )
    if ssl_context is not None and not isinstance(ssl_context, SSLContext):
        raise UsageError(
            "ssl_context must be an ssl.SSLContext, such as ssl.create_default_context() returns",
            argument="ssl_context",
        )
    if ssl_context is not None and (transport is not None or http_client is not None):
        raise UsageError(
            "ssl_context applies to the client's own connections: pass it to the transport or http_client instead",
            argument="ssl_context",
        )
    if http_client is not None:
        return ClientTransport(http_client)
    return EngineTransport(ssl_context) if transport is None else transport


def as_timeout(value: float | Timeout) -> dict[str, float | None]:
    """Return the limits of one attempt in seconds, by the names that httpx gives them.

    Raises:
        UsageError: it is neither a number of seconds nor a timeout.
    """
    if isinstance(value, httpx.Timeout):
        return value.as_dict()
    if isinstance(value, bool) or not isinstance(value, _NUMBERS) or not 0 < value <= _LONGEST:
        raise UsageError("timeout must be a number of seconds above 0, or an httpx.Timeout", argument="timeout")
    return dict.fromkeys(_LIMITS, value)


def check_kind(name: str, value: object, kind: type) -> None:
    """Check that a transport or a client is one of httpx, where it is passed: else the first call would fail on it.

    Raises:
        UsageError: it is one of another library.
    """
    if not isinstance(value, kind):
        raise UsageError(
            f"{name} must be an httpx.{kind.__name__}, not {type(value).__module__}.{type(value).__qualname__}: "
            "clients and transports of other libraries, such as httpx2, are not supported",
            argument=name,
        )


class ClientTransport(httpx.AsyncBaseTransport):
    """Sends through the caller's `httpx.AsyncClient`, with its own defaults, and never closes it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        check_kind("http_client", client, httpx.AsyncClient)
        self._client = client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one attempt: our headers win, redirects are not followed, the client's credentials are not used.

        Raises:
            UsageError: the client is closed.
        """
        if self._client.is_closed:
            raise StateError("the given http_client is closed: close it after this client")
        headers = self._client.headers.copy()
        headers.update(request.headers)
        # Not by its `build_request`, which adds the cookies that it has stored.
        outgoing = httpx.Request(
            request.method,
            request.url,
            params=self._client.params.merge(request.url.params) if self._client.params else None,
            headers=headers,
            content=request.content,
            extensions=dict(request.extensions),
        )
        try:
            return await self._client.send(outgoing, stream=True, auth=None, follow_redirects=False)
        except UnicodeError as error:
            # Even without following it, httpx reads where a redirect leads, and a host may be one that it cannot read.
            raise httpx.RemoteProtocolError("the response redirects to what is not a URL") from error
        except httpx.HTTPStatusError as error:
            # One of its hooks raised for the status, which still decides what follows; the body is there
            # if it was read.
            failed, headers = error.response, error.response.headers.copy()
            headers.pop("content-encoding", None)
            content = failed.content if failed.is_stream_consumed else None
            return httpx.Response(failed.status_code, headers=headers, content=content)


async def close_if_surplus(stream: object, extensions: Mapping[str, Any]) -> None:
    """Close the connection of a response that has been read, unless it can be used again.

    Args:
        stream: the body of the response, as the transport returned it.
        extensions: what the transport says of the response.

    httpcore keeps surplus bytes of one `recv` in h11's buffer and reads the next response from there. It has no public
    attribute for that: where the buffer cannot be found, the connection is closed after every response.
    """
    if extensions.get("http_version") not in (b"HTTP/1.1", b"HTTP/1.0"):
        return
    network_stream = extensions["network_stream"]
    connection = _connection_of(stream)
    if connection is None:
        _warn(type(stream).__qualname__)
        await network_stream.aclose()
    elif _has_surplus(connection, network_stream):
        await connection.aclose()


def _connection_of(stream: Any) -> Any:
    for _ in range(_DEPTH):
        if hasattr(stream, "_h11_state"):
            return stream
        stream = next((inner for name in _INNER if (inner := getattr(stream, name, None)) is not None), None)
    return None


def _has_surplus(connection: Any, network_stream: Any) -> bool:
    h11_connection = connection._h11_state  # noqa: SLF001  # see above
    if h11_connection.our_state is not h11_connection.their_state:
        # Not reusable, or in use again: a wrapper read the response and gave its connection back.
        return False
    if h11_connection.trailing_data[0]:
        return True
    tls = network_stream.get_extra_info("ssl_object")
    if tls is None:
        return False
    try:
        # A record that arrived together with the response waits inside of the TLS layer, where no socket shows it.
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        return True
    return True


@lru_cache(maxsize=1)
def _warn(kind: str) -> None:
    LOG.warning("responses of %s do not show their connection: each connection is used for one request", kind)


async def cancelled_in_order(work: Coroutine[Any, Any, T]) -> T:
    """Run work so that it ends in order when the waiting task is cancelled, and return only after that.

    httpx's connections tidy up behind shields of anyio, which `Task.cancel` breaks through: a connection that is hit
    there stays open and busy for ever. A scope of anyio is what those shields hold off.
    """
    scope = anyio.CancelScope()

    async def run() -> T:
        with scope:
            return await work
        raise asyncio.CancelledError

    task = asyncio.create_task(run())
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = error
            scope.cancel()
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        # asyncio reports an error that nobody has asked for.
        task.exception()
    raise cancellation
