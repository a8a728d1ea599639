"""A caller's client or transport, of httpx or httpx2, and the protection of its connections from cancellation."""

import asyncio
import sys
from collections.abc import Coroutine
from types import ModuleType
from typing import Any, TypeGuard, TypeVar
from urllib.parse import urlencode

import anyio
import httpx

from ..errors import StateError, UsageError, class_name
from .httpx2_adapter import HTTPX2Adapter, HTTPX2Client, HTTPX2Timeout, HTTPX2Transport

T = TypeVar("T")


def given_transport(
    transport: httpx.AsyncBaseTransport | HTTPX2Transport,
) -> httpx.AsyncBaseTransport | HTTPX2Adapter:
    """Return a caller's transport, and that of httpx2 behind an adapter.

    Raises:
        UsageError: it is neither one of httpx nor one of httpx2.
    """
    library = _checked_library_of("transport", transport, "AsyncBaseTransport")
    return transport if isinstance(transport, httpx.AsyncBaseTransport) else HTTPX2Adapter(transport, library)


def given_client(client: httpx.AsyncClient | HTTPX2Client) -> httpx.AsyncBaseTransport | HTTPX2Adapter:
    """Return a transport that sends through a caller's client.

    Raises:
        UsageError: it is neither one of httpx nor one of httpx2.
    """
    library = _checked_library_of("http_client", client, "AsyncClient")
    transport = ClientTransport(client, library)
    return transport if library is httpx else HTTPX2Adapter(transport, library)


def is_timeout(value: object) -> TypeGuard[httpx.Timeout | HTTPX2Timeout]:
    """Return whether an object is the `Timeout` of httpx or of httpx2."""
    return _library_of(value, "Timeout") is not None


def _library_of(value: object, kind: str) -> ModuleType | None:
    """Return httpx or httpx2 if an object is an instance of the class `kind` of that library."""
    # Only a caller who has imported httpx2 can pass an object of it.
    libraries = (httpx, sys.modules.get("httpx2", httpx))
    return next((library for library in libraries if isinstance(value, getattr(library, kind, ()))), None)


def _checked_library_of(name: str, value: object, kind: str) -> ModuleType:
    """Return the library of an argument. An object of any other library is rejected here, not by the first call."""
    library = _library_of(value, kind)
    if library is not None:
        return library
    raise UsageError(f"{name} must be an httpx.{kind} or an httpx2.{kind}, not {class_name(value)}", argument=name)


class ClientTransport(httpx.AsyncBaseTransport):
    """Sends through a caller's client, with its own defaults, and never closes it.

    Args:
        client: the client.
        library: the module of the client: httpx or httpx2. Requests, responses and exceptions are of the same library.
    """

    def __init__(self, client: Any, library: ModuleType = httpx) -> None:
        self._client, self._library = client, library

    async def handle_async_request(self, request: Any) -> Any:
        """Send one attempt: our headers win, redirects are not followed, the client's credentials are not used.

        Raises:
            StateError: the client is closed.
        """
        if self._client.is_closed:
            raise StateError("the given http_client is closed: close it after this client")
        headers = self._client.headers.copy()
        headers.update(request.headers)
        url, sent = request.url, request.url.params
        if added := [(name, value) for name, value in self._client.params.multi_items() if name not in sent]:
            # The query stays as it is: `merge` would write a space as a plus, which is a plus in a query of OData.
            query = urlencode(added).encode("ascii")
            url = url.copy_with(query=query + b"&" + url.query if url.query else query)
        # Not by the client's `build_request`, which adds its stored cookies.
        outgoing = self._library.Request(
            request.method,
            url,
            headers=headers,
            content=request.content,
            extensions=dict(request.extensions),
        )
        try:
            return await self._client.send(outgoing, stream=True, auth=None, follow_redirects=False)
        except UnicodeError as error:
            # httpx parses the Location of a redirect that it does not follow, and fails if its host is no valid name.
            raise self._library.RemoteProtocolError("the response redirects to an invalid URL") from error
        except self._library.HTTPStatusError as error:
            # An event hook called `raise_for_status`. The status still decides on a retry. The hook may not have read
            # the body.
            failed, headers = error.response, error.response.headers.copy()
            headers.pop("content-encoding", None)
            content = failed.content if failed.is_stream_consumed else None
            return self._library.Response(failed.status_code, headers=headers, content=content)


async def cancelled_in_order(work: Coroutine[Any, Any, T]) -> T:
    """Await work in a task of its own. When the caller is cancelled, cancel a scope of anyio around the work instead.

    The connections of httpx clean up inside shielded scopes of anyio. `Task.cancel` ignores the shield, and a
    connection that it interrupts there stays open and busy for ever. Cancelling an outer scope respects the shield.
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
    work.close()  # if the event loop ended before the task ran, the work was never awaited
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        # asyncio logs an exception that no task has retrieved.
        task.exception()
    raise cancellation
