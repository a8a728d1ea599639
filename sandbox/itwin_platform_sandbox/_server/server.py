"""A uvicorn server in a running event loop, without a thread, signal handlers or logging configuration.

`uvicorn.Server` polls every 100 ms for its end and waits as long for its connections, so this module makes the
connections itself and lets the protocol that uvicorn chooses parse each of them.
"""

import asyncio
import copy
import logging
import os
import socket
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from .._faults.wire import TRANSPORT_EXTENSION, real_socket

# Longer than clients keep idle connections, so that a sandbox never closes one just as it is used again.
_KEEP_ALIVE_SECONDS = 600
# How long a request may take to arrive, head and body together: a client that sends a byte at a time is closed too.
RECEIVE_SECONDS = 30.0
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_BACKLOG = 2048
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
# A client that does not send HTTP gets 400; only failures of the sandbox itself are logged.
_LOGGER = logging.getLogger(__name__)
_LOGGER.setLevel(logging.ERROR)


class LoopServer:
    """A server of an ASGI application on one address, within the running loop."""

    def __init__(
        self, *, host: str, port: int, tls: ssl.SSLContext | None = None, receive_seconds: float = RECEIVE_SECONDS
    ) -> None:
        self._tls = tls
        self._host = host
        self._wanted_port = port
        self._receive_seconds = receive_seconds
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._refusing: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._app: ASGIApp | None = None
        self._config: Config | None = None
        self.connections: set[_Connection] = set()
        self.port: int = 0

    async def start(self, app: ASGIApp) -> None:
        """Start to listen; `OSError` if the address is in use, `RuntimeError` if the server runs already."""
        if self.is_running:
            raise RuntimeError("the sandbox is running already: use it without another `async with`")
        listening = _bound_socket(self._host, self._wanted_port)
        listening.listen(_BACKLOG)
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._app, self._config = app, _uvicorn_config(app)
        await self._serve(listening)
        self.port = listening.getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, drop every connection and cancel every running request."""
        self._stopping = True
        if self._server is not None:
            self._server.close()
        if self._refusing is not None:
            self._refusing.close()
        self._drop_connections()
        # One iteration of the loop calls connection_lost, so that no protocol logs a missing response.
        await asyncio.sleep(0)
        tasks = [*self._state.tasks, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
        self._loop = None

    @property
    def is_running(self) -> bool:
        """Whether the server is started and not stopped."""
        return self._loop is not None

    def refuse_connections(self) -> None:
        """Stop listening and drop every connection; the address stays reserved. Called within the loop."""
        if self._server is None or self._refusing is not None:
            return
        self._server.close()
        # A socket that is bound and does not listen refuses connections and reserves the port.
        self._refusing = _bound_socket(self._host, self.port)
        self._drop_connections()

    def accept_connections(self) -> None:
        """Listen again. Called within the loop; when it returns, connections are accepted."""
        listening, self._refusing = self._refusing, None
        if listening is not None and not self._stopping:
            listening.listen(_BACKLOG)
            self.run_later(self._serve(listening))

    def run_later(self, action: Coroutine[None, None, None]) -> None:
        """Run an action beside the requests; it ends with the server. Called within the loop."""
        task = asyncio.ensure_future(action, loop=self._loop)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def run_in_loop(self, action: Callable[[], None]) -> None:
        """Run an action within the loop, from any thread, and return when it is done."""
        if self._loop is None:
            raise RuntimeError("the sandbox is not running: call this inside `async with`")
        # A loop that stands still between two runs carries nothing out, so waiting for it would never end.
        if _running_loop() is self._loop or not self._loop.is_running():
            action()
            return

        async def act() -> None:
            action()

        asyncio.run_coroutine_threadsafe(act(), self._loop).result()

    async def _serve(self, listening: socket.socket) -> None:
        self._server = await asyncio.get_running_loop().create_server(
            self._connection, sock=listening, backlog=_BACKLOG, ssl=self._tls
        )

    def _connection(self) -> "_Connection":
        assert self._app is not None, "start() has set the application"  # noqa: S101 - for the type checker
        assert self._config is not None, "start() has made the configuration"  # noqa: S101 - the same
        return _Connection(
            self._app,
            self._config,
            self._state,
            connections=self.connections,
            receive_seconds=self._receive_seconds,
            is_stopping=lambda: self._stopping,
        )

    def _drop_connections(self) -> None:
        for connection in list(self.connections):
            # abort() closes the connection in the next iteration; the pool of a client must see it now.
            with suppress(OSError), real_socket(connection.transport) as client:  # OSError: the client has left
                client.shutdown(socket.SHUT_RDWR)
            connection.transport.abort()


class _Connection(asyncio.Protocol):
    """One connection: bounds the time in which each request arrives, and has uvicorn's protocol parse it."""

    transport: asyncio.Transport

    def __init__(
        self,
        app: ASGIApp,
        config: Config,
        state: ServerState,
        *,
        connections: "set[_Connection]",
        receive_seconds: float,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._app = app
        own = copy.copy(config)
        own.loaded_app = self._handle  # pyright: ignore[reportAttributeAccessIssue] # uvicorn and Starlette type ASGI apart
        self._http = own.http_protocol_class(config=own, server_state=state, app_state={})  # type: ignore[call-arg] # of uvicorn's protocols
        for name, value in (("logger", _LOGGER), ("access_log", False)):
            setattr(self._http, name, value)
        self._connections = connections
        self._receive_seconds = receive_seconds
        self._is_stopping = is_stopping
        self._deadline: asyncio.TimerHandle | None = None
        self._handling = 0
        self._received_more = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; a client that sends nothing may stay as long as an idle one."""
        self.transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._set_deadline(_KEEP_ALIVE_SECONDS)
        self._http.connection_made(self.transport)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; the first bytes of a request start its time."""
        if self._handling:
            self._received_more = True
        elif not self._received_more:
            self._received_more = True
            self._set_deadline(self._receive_seconds)
        self._http.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on that the client sends no more."""
        return self._http.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._set_deadline(None)
        self._connections.discard(self)
        self._http.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass on that the client reads slowly."""
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the client has read."""
        self._http.resume_writing()

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, whose head has arrived."""
        scope["extensions"] = {TRANSPORT_EXTENSION: self.transport}
        request = _Arrival(receive, send, self._arrived)
        self._handling += 1
        try:
            await self._app(scope, request.receive, request.send)
        except asyncio.CancelledError:
            if not self._is_stopping():
                raise
        finally:
            self._handling -= 1
            if not self._handling:
                # What arrived meanwhile belongs to a next request, whose time starts now.
                self._set_deadline(self._receive_seconds if self._received_more else None)

    def _arrived(self) -> None:
        self._received_more = False
        self._set_deadline(None)

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        """Close the connection of a request that did not arrive in time."""
        self.transport.write(_TOO_SLOW)
        self.transport.close()


@dataclass(slots=True)
class _Arrival:
    """The request on its way in: says when it is complete, and sends no response before."""

    _receive: Receive
    _send: Send
    _arrived: Callable[[], None]
    _is_complete: bool = field(default=False, init=False)
    _is_lost: bool = field(default=False, init=False)

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._is_lost = not self._is_complete
        elif not self._is_complete and not message.get("more_body", False):
            self._is_complete = True
            self._arrived()
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response; a body that nobody wanted is read to its end and dropped before."""
        # A response in the midst of a request cannot be followed by a rejection of what is wrong with its rest.
        while not (self._is_complete or self._is_lost):
            await self.receive()
        if not self._is_lost:
            await self._send(message)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None  # a thread without a loop


def _uvicorn_config(app: ASGIApp) -> Config:
    config = Config(
        app,
        http="h11",  # another parser than that of the client, so that the two check each other
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    config.load()
    return config


def _bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that has the address and does not listen; `OSError` when the address is in use."""
    # asyncio disables Nagle's algorithm only if the protocol is named; with it every response is delayed by 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # Without this an address stays in use for a minute after a connection on it was closed here.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)  # noqa: FBT003 - the socket module takes it by position only
    return bound


@dataclass(frozen=True, slots=True)
class ThrowawayCertificate:
    """The TLS context of a server, and the certificate of its authority as PEM."""

    server: ssl.SSLContext = field(repr=False)
    authority: bytes = field(repr=False)


def throwaway_certificate(host: str) -> ThrowawayCertificate:
    """Make a certificate for one run, for the loopback names and `host`; `ImportError` without the extra `tls`."""
    try:
        import trustme
    except ImportError as error:
        raise ImportError(f"{error}: TLS needs `pip install trustme`") from error
    authority = trustme.CA()
    is_more = host not in (*_LOOPBACK_NAMES, "0.0.0.0", "::")  # noqa: S104 - excluded, not bound
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*_LOOPBACK_NAMES, *([host] if is_more else [])).configure_cert(server)
    return ThrowawayCertificate(server, authority.cert_pem.bytes())
