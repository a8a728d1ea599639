"""The default transport: httpx's own, one for each connection, so that many connections cost no more than few."""

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import httpcore
import httpx

from .network import IDLE_CONNECTION_ENDED, Network

#: An idle connection is closed after so many seconds: httpx's own default.
KEEPALIVE = 5.0
#: Stands in place of a lock of httpcore.
_NO_LOCK = nullcontext()


class SlotTransport(httpx.AsyncBaseTransport):
    """Sends each request through an `httpx.AsyncHTTPTransport` of one connection; the last used comes first.

    httpcore looks at every connection of a pool several times for each request. A pool of one has nothing to look for.
    Tools that watch `httpx.AsyncHTTPTransport` see every request.

    Args:
        verify: the certificates to trust; False where no request is encrypted.
    """

    #: What is sent, and what is read, ends where a task is cancelled: the network below needs no protection.
    cancels_cleanly = True

    def __init__(self, *, verify: ssl.SSLContext | bool = True) -> None:
        self._context = httpx.create_ssl_context(verify=verify)
        self._network = Network()
        self._slots: set[httpx.AsyncHTTPTransport] = set()
        #: The slots that nobody uses, and when they were used last; oldest first.
        self._idle: deque[tuple[httpx.AsyncHTTPTransport, float]] = deque()

    def __repr__(self) -> str:
        return f"SlotTransport(in_use={len(self._slots) - len(self._idle)}, idle={len(self._idle)})"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request once.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        while True:
            slot = self._idle.pop()[0] if self._idle else self._open()
            try:
                response = await slot.handle_async_request(request)
            except BaseException as error:
                await self._close(slot)
                if isinstance(error, httpx.ConnectError) and str(error) == IDLE_CONNECTION_ENDED:
                    continue
                raise
            assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101  # what an async transport returns
            response.stream = _Body(response.stream, self, slot)
            return response

    def _open(self) -> httpx.AsyncHTTPTransport:
        slot = httpx.AsyncHTTPTransport(verify=self._context)
        if not hasattr(slot, "_pool"):
            raise RuntimeError("this version of httpx keeps its connections elsewhere: use httpx 0.27 or 0.28")
        # httpx has no public way to hand in a network.
        slot._pool = _Pool(  # noqa: SLF001
            ssl_context=self._context, keepalive_expiry=KEEPALIVE, network_backend=self._network
        )
        self._slots.add(slot)
        return slot

    async def give_back(self, slot: httpx.AsyncHTTPTransport) -> None:
        """Take back a slot whose response was read or closed, and close what has been idle for too long."""
        now = asyncio.get_running_loop().time()
        # A task that is cancelled while httpcore closes a response leaves the connection busy for ever.
        if not all(connection.is_idle() for connection in slot._pool.connections):  # noqa: SLF001  # see `_open`
            await self._close(slot)
        elif slot in self._slots:
            self._idle.append((slot, now))
        while self._idle and self._idle[0][1] < now - KEEPALIVE:
            await self._close(self._idle.popleft()[0])

    async def _close(self, slot: httpx.AsyncHTTPTransport) -> None:
        self._slots.discard(slot)
        await slot.aclose()

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        self._idle.clear()
        for slot in list(self._slots):
            await self._close(slot)
        # The event loop closes sockets in its next round.
        await asyncio.sleep(0)


class _Pool(httpcore.AsyncConnectionPool):
    """A pool of one connection, which has one request at a time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_connections=1, **options)
        self._options = options

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        """Return a connection without locks."""
        return _Connection(origin, **self._options)

    async def _close_connections(self, closing: list[httpcore.AsyncConnectionInterface]) -> None:
        # Twice for each request there is nothing to close: httpcore would open a scope of anyio for it.
        if closing:
            await super()._close_connections(closing)


class _Connection(httpcore.AsyncHTTPConnection):
    """A connection without httpcore's locks, which no request of a slot needs.

    Each of them lets all other tasks run before it is acquired. With many requests in flight all of them stop there,
    half done, at the same time. What they hold then starts the garbage collector, which looks at every one of them.
    """

    def __init__(self, origin: httpcore.Origin, **options: Any) -> None:
        super().__init__(origin, **options)
        self._request_lock: Any = _NO_LOCK

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request; the first one opens the connection."""
        if self._connection is not None:
            self._connection._state_lock = _NO_LOCK  # type: ignore[attr-defined]  # noqa: SLF001  # httpcore has no option
        return await super().handle_async_request(request)


class _Body(httpx.AsyncByteStream):
    """The body of a response; closing it gives the slot back."""

    def __init__(self, stream: httpx.AsyncByteStream, owner: SlotTransport, slot: httpx.AsyncHTTPTransport) -> None:
        self._stream, self._owner, self._slot = stream, owner, slot
        self._is_closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._stream.__aiter__()

    async def aclose(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._stream.aclose()
        finally:
            await self._owner.give_back(self._slot)
