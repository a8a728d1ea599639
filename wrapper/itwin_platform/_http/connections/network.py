"""The network below httpcore, on asyncio itself: cancelling it needs no protection, and nothing arrives unseen.

httpcore's own network stands on anyio. There, a cancelled task can leave a connection open, and bytes that arrive
between two requests are not seen.
"""

import asyncio
import select
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from .addresses import connect

#: So many bytes of a response may wait to be read before the peer is slowed down.
_READ_AHEAD = 262_144
#: So many bytes are handed to the event loop at once.
_WRITTEN_AT_ONCE = 65_536
#: The text of the error for a connection that ended between two requests: nothing was sent on it.
IDLE_CONNECTION_ENDED = "the idle connection has ended"


class Stream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection. Reading never stops between requests, so its end and surplus bytes are noticed."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._buffer = bytearray()
        self._held_back = bytearray()
        #: False between requests: what arrives then belongs to no request.
        self._is_in_use = True
        self._error: Exception | None = None
        self._is_ended = self._is_paused = False
        self._waiter: asyncio.Future[None] | None = None

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Keep what arrived."""
        self._buffer += data
        if len(self._buffer) > _READ_AHEAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that the peer sends no more."""
        self._is_ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self._is_ended, self._error = True, exc
        self._wake()

    def pause_writing(self) -> None:
        """Note that the peer reads too slowly."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Note that the peer has read."""
        self._is_paused = False
        self._wake()

    # What httpcore calls

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  # httpcore's signature
        """Send what was held back, and return what has arrived, b"" at the end.

        Raises:
            httpcore.ReadTimeout, httpcore.ReadError: nothing came in time, or the connection broke.
        """
        self._flush()
        while not self._buffer and not self._is_ended:
            await self._wait(timeout, httpcore.ReadTimeout)
        if not self._buffer and self._error is not None:
            failure = httpcore.ReadError(str(self._error))
            # As its context: httpcore removes the cause.
            failure.__context__ = self._error
            raise failure
        data = bytes(self._buffer[:max_bytes])
        del self._buffer[:max_bytes]
        if not self._is_ended:
            self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  # httpcore's signature
        """Send, and wait while the peer reads too slowly.

        The end of a request is held back until its response is read: head and body go out together, so that a service
        that rejects the connection is heard before a second write fails.

        Raises:
            httpcore.ConnectError: the connection ended between two requests; nothing was sent.
            httpcore.WriteTimeout, httpcore.WriteError: the peer took nothing in time, or the connection broke.
        """
        if not self._is_in_use:
            if self._is_readable():
                raise httpcore.ConnectError(IDLE_CONNECTION_ENDED)
            self._is_in_use = True
        for start in range(0, len(buffer), _WRITTEN_AT_ONCE):
            # Piece by piece, so that the time limit is one for progress, however large the body is.
            if len(self._held_back) >= _WRITTEN_AT_ONCE:
                self._flush()
            if self._transport.is_closing():
                raise httpcore.WriteError(str(self._error or "the connection is closed"))
            self._held_back += buffer[start : start + _WRITTEN_AT_ONCE]
            while self._is_paused and not self._transport.is_closing():
                await self._wait(timeout, self._write_failure)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        """Return a stream that encrypts.

        Raises:
            httpcore.ConnectTimeout, httpcore.ConnectError: the handshake took too long, or failed.
        """
        encrypted = Stream()
        try:
            async with asyncio.timeout(timeout):
                encrypted._transport = await self._loop.start_tls(
                    self._transport, encrypted, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("the TLS handshake took too long") from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        finally:
            if encrypted._transport is None:
                self._transport.abort()
        return encrypted

    async def aclose(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks for by name; an idle connection that is readable cannot be used again."""
        if info == "is_readable":
            # httpcore asks for it when the connection is idle, and only then.
            self._is_in_use = False
            return self._is_readable()
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    def _is_readable(self) -> bool:
        if self._is_ended or self._buffer or self._transport.is_closing():
            return True
        return is_socket_readable(self._transport)

    def _flush(self) -> None:
        if self._held_back:
            self._transport.write(bytes(self._held_back))
            self._held_back.clear()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _write_failure(self, text: str) -> Exception:
        # After a WriteError httpcore reads the response: a service that has responded may read no more.
        return httpcore.WriteError(text) if self._buffer else httpcore.WriteTimeout(text)

    async def _wait(self, seconds: float | None, too_late: Callable[[str], Exception]) -> None:
        waiter = self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, _expire, waiter, too_late)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()


def is_socket_readable(transport: Any) -> bool:
    """Tell what the event loop has not seen yet: an idle connection that is readable was closed, or is out of step."""
    socket = transport.get_extra_info("socket")
    descriptor = -1 if socket is None else socket.fileno()
    if descriptor < 0:
        return True
    if not hasattr(select, "poll"):  # pragma: no cover  # Windows
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _expire(waiter: "asyncio.Future[None]", too_late: Callable[[str], Exception]) -> None:
    if not waiter.done():
        waiter.set_exception(too_late("no progress in time"))


class Network(httpcore.AsyncNetworkBackend):
    """Opens connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Open a connection.

        Raises:
            httpcore.ConnectTimeout, httpcore.ConnectError: no connection in time, or nobody listens.
        """
        del local_address, socket_options  # nothing here asks for them
        try:
            async with asyncio.timeout(timeout):
                return await connect(Stream, host, port)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("no connection in time") from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
