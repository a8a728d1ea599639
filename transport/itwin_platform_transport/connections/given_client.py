"""What a caller may pass, a client or a transport of httpx, and the protection of its connections."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio
import httpx

from ..errors import StateError, UsageError

T = TypeVar("T")


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
