"""A uvicorn server in a running event loop, without a thread, signal handlers or logging configuration.

`uvicorn.Server` polls every 100 ms for its end and waits as long for its connections, so this module uses the protocol
of uvicorn directly.
"""

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .._faults.wire import TRANSPORT_EXTENSION, real_socket

# Longer than clients keep idle connections, so that a sandbox never closes one just as it is used again.
_KEEP_ALIVE_SECONDS = 600
_BACKLOG = 2048
# A client that does not send HTTP gets 400; only failures of the sandbox itself are logged.
_LOGGER = logging.getLogger(__name__)
_LOGGER.setLevel(logging.ERROR)


class LoopServer:
    """A server of an ASGI application on one address, within the running loop."""

    def __init__(self, app: ASGIApp, *, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._app = app
        self._tls = tls
        self._host = host
        self._wanted_port = port
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._config: Config = _uvicorn_config(self._handle)
        self._refusing: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self.port: int = 0

    async def start(self) -> None:
        """Start to listen; `OSError` if the address is in use, `RuntimeError` if the server runs already."""
        if self.is_running:
            raise RuntimeError("the sandbox is running already: use it without another `async with`")
        listening = _bound_socket(self._host, self._wanted_port)
        listening.listen(_BACKLOG)
        self._stopping = False
        self._loop = asyncio.get_running_loop()
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
            lambda: _TransportProtocol(config=self._config, server_state=self._state, app_state={}),
            sock=listening,
            backlog=_BACKLOG,
            ssl=self._tls,
        )

    def _drop_connections(self) -> None:
        for connection in list(self._state.connections):
            if isinstance(connection, _TransportProtocol):
                # abort() closes the connection in the next iteration; the pool of a client must see it now.
                with suppress(OSError), real_socket(connection.transport) as client:  # OSError: the client has left
                    client.shutdown(socket.SHUT_RDWR)
                connection.transport.abort()

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if not self._stopping:
                raise


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None  # a thread without a loop


def _uvicorn_config(app: ASGIApp) -> Config:
    config = Config(
        app,
        http=_TransportProtocol,
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


class _TransportProtocol(H11Protocol):
    """uvicorn's protocol, with the transport in the scope of every request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn narrows it
        super().connection_made(transport)
        self.logger = _LOGGER
        self.access_log = False
        app = self.app

        async def app_with_transport(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {TRANSPORT_EXTENSION: transport}
            await app(scope, receive, send)

        self.app = app_with_transport
