"""A uvicorn server in a running event loop, without a thread, signal handlers or logging configuration.

`uvicorn.Server` polls every 100 ms for its end and for the end of its connections. So this module accepts connections
itself, and uvicorn's protocol parses them.

The server has one socket. It listens on it, or it has bound it and refuses connections until a timer ends. There is one
timer: listening, refusing and stopping cancel it first.
"""

import asyncio
import logging
import os
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .._faults.wire import TRANSPORT_EXTENSION, real_socket

# Keep-alive timeout in seconds: longer than that of clients, so the sandbox never closes a connection in use.
_KEEP_ALIVE_SECONDS = 600
_BACKLOG = 2048
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
# The level hides uvicorn's warnings about invalid requests, which get 400; errors of the sandbox itself are logged.
_LOGGER = logging.getLogger(__name__)
_LOGGER.setLevel(logging.ERROR)


class LoopServer:
    """A server of an ASGI application on one address, within the running loop."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._tls = tls
        self._host = host
        self._wanted_port = port
        self._sleep = sleep
        self._state = ServerState()
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._refusal: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._app: ASGIApp | None = None
        self._config: Config | None = None
        self.port: int = 0

    async def start(self, app: ASGIApp) -> None:
        """Start to listen; `OSError` if the address is in use, `RuntimeError` if the server runs already."""
        if self.is_running:
            raise RuntimeError("the sandbox is running already: use it without another `async with`")
        self._socket = _bound_socket(self._host, self._wanted_port)
        self._socket.listen(_BACKLOG)
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._app, self._config = app, _uvicorn_config(app)
        await self._serve(self._socket)
        self.port = self._socket.getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, drop every connection and cancel every running request."""
        self._stopping = True
        self._stop_listening()
        # Two iterations of the loop call connection_made and connection_lost, so that no protocol logs a missing
        # response, and a connection that was just accepted is dropped too.
        for _ in range(2):
            self._drop_connections()
            await asyncio.sleep(0)
        tasks = [*self._state.tasks, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._loop = None

    @property
    def is_running(self) -> bool:
        """Whether the server is started and not stopped."""
        return self._loop is not None

    def refuse_connections(self, seconds: float) -> None:
        """Refuse connections for some seconds from now, and drop every open one. Called within the loop."""
        if self._stopping:
            return
        self._stop_listening()
        # A socket that is bound and does not listen refuses connections and reserves the port.
        self._socket = _bound_socket(self._host, self.port)
        self._drop_connections()
        self._refusal = self.run_later(self._listen_after(seconds))

    def accept_connections(self) -> None:
        """End a refusal. Called within the loop; when it returns, connections are accepted."""
        if self._refusal is not None and not self._stopping:
            self._refusal.cancel()
            self._listen()

    def run_later(self, action: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run an action beside the requests; it ends with the server. Called within the loop."""
        task = asyncio.ensure_future(action, loop=self._loop)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def run_in_loop(self, action: Callable[[], None]) -> None:
        """Run an action within the loop, from any thread, and return when it is done."""
        if self._loop is None:
            raise RuntimeError("the sandbox is not running: call this inside `async with`")
        # A loop that is stopped between two runs executes nothing: waiting for it would never end.
        if _running_loop() is self._loop or not self._loop.is_running():
            action()
            return

        async def act() -> None:
            action()

        asyncio.run_coroutine_threadsafe(act(), self._loop).result()

    def _stop_listening(self) -> None:
        if self._refusal is not None:
            self._refusal.cancel()
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.close()
        self._refusal = self._server = self._socket = None

    async def _listen_after(self, seconds: float) -> None:
        await self._sleep(seconds)
        self._listen()

    def _listen(self) -> None:
        self._refusal = None
        if self._socket is not None:
            self._socket.listen(_BACKLOG)
            self.run_later(self._serve(self._socket))

    async def _serve(self, listening: socket.socket) -> None:
        if listening is not self._socket:
            return  # the socket was closed in the meantime, by another refusal or by `stop`
        # `start_serving=True` would yield to the event loop before `_server` is assigned.
        self._server = await asyncio.get_running_loop().create_server(
            self._protocol, sock=listening, backlog=_BACKLOG, ssl=self._tls, start_serving=False
        )
        await self._server.start_serving()

    def _protocol(self) -> asyncio.Protocol:
        """Return the protocol of one connection. Each request finds the transport in its scope."""
        app, config = self._app, self._config
        assert app is not None, "start() has set the application"  # noqa: S101 - for the type checker
        assert config is not None, "start() has made the configuration"  # noqa: S101 - the same
        http = _Protocol(config=config, server_state=self._state, app_state={})
        http.logger, http.access_log = _LOGGER, False

        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {TRANSPORT_EXTENSION: http.transport}
            try:
                await app(scope, receive, send)
            except asyncio.CancelledError:
                if not self._stopping:
                    raise

        http.app = handle
        return http

    def _drop_connections(self) -> None:
        for connection in [each for each in self._state.connections if not each.transport.is_closing()]:
            # abort() closes the connection in the next iteration; the pool of a client must see it now.
            with suppress(OSError), real_socket(connection.transport) as client:  # OSError: the client has left
                client.shutdown(socket.SHUT_RDWR)
            connection.transport.abort()


class _Protocol(HttpToolsProtocol):
    """A protocol that ignores offers of an upgrade."""

    def data_received(self, data: bytes) -> None:
        """Parse received bytes."""
        # httptools ends a request with an Upgrade header before its body, and Java's client sends one with every
        # request. So the header gets a meaningless name of the same length.
        head, blank_line, rest = data.partition(b"\r\n\r\n")
        super().data_received(_UPGRADE.sub(b"\r\nx-grade:", head) + blank_line + rest)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None  # a thread without a loop


def _uvicorn_config(app: ASGIApp) -> Config:
    config = Config(
        app,
        http="httptools",
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
    """Return a socket that is bound to the address and does not listen; `OSError` if the address is in use."""
    # asyncio disables Nagle's algorithm only if the protocol is named; with it every response is delayed by 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # Otherwise the address stays in use for a minute after the sandbox has closed a connection.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)  # noqa: FBT003 - the socket module takes it by position only
    return bound


def throwaway_certificate(host: str) -> tuple[ssl.SSLContext, bytes]:
    """Make a certificate for one run, for the loopback names and `host`; `ImportError` without the extra `tls`.

    Returns:
        The context of the server, and the certificate of the authority as PEM.
    """
    try:
        import trustme
    except ImportError as error:
        raise ImportError(f"{error}: TLS needs `pip install trustme`") from error
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*dict.fromkeys((*_LOOPBACK_NAMES, host))).configure_cert(server)
    return server, authority.cert_pem.bytes()
