"""Networks for the default transport: two event loops, with and without TLS, and through watched functions of httpx."""

import asyncio
import functools
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from typing import Any

import httpcore
import httpx
import pytest
import trustme
from itwin_platform_transport.connections.engine import EngineTransport

from tests.support.real_time import LONGEST, run_in


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def authority() -> str:
    """Return the certificate of the CA, to be trusted, as PEM."""
    return _authority().cert_pem.bytes().decode()


def server_context(*, address: str = "127.0.0.1") -> ssl.SSLContext:
    """Return the TLS context of a service on loopback."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _authority().issue_cert(address).configure_cert(context)
    return context


@contextmanager
def doorkeeper(context: ssl.SSLContext | None) -> Iterator[tuple[str, list[object]]]:
    """Accept TLS connections in a thread, and send a TLS alert for each handshake that fails. It reads no request.

    asyncio does not send the alert of a failed handshake. Without a context, the response to a handshake is HTTP.
    Yields the address and the list of accepted clients.
    """
    listening, accepted = socket.create_server(("127.0.0.1", 0)), list[object]()

    def run() -> None:
        with suppress(OSError):  # the socket is closed at the end
            while True:
                connection, client = listening.accept()
                accepted.append(client)
                if context is None:
                    with connection:
                        connection.recv(65_536)
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    continue
                with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as tls:
                    with suppress(OSError):
                        tls.do_handshake()
                    # Closing with unread bytes would reset the connection, and the reset may overtake the alert.
                    with suppress(OSError):
                        socket.socket.shutdown(tls, socket.SHUT_WR)
                        while socket.socket.recv(tls, 65_536):
                            pass

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}", accepted
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


#: The functions that tools replace, by the name of the route of an attempt after that.
WATCHED: dict[str, tuple[type, str]] = {
    "watched client": (httpx.AsyncClient, "send"),
    "watched transport": (httpx.AsyncHTTPTransport, "handle_async_request"),
    "watched pool": (httpcore.AsyncConnectionPool, "handle_async_request"),
    "watched httpcore": (httpcore.AsyncHTTPConnection, "handle_async_request"),
}
NETWORKS = ("asyncio", "asyncio, TLS", "uvloop", "uvloop, TLS", "watched transport")
#: The limits of each phase of a request, in seconds.
TIMES: Mapping[str, float | None] = {"connect": LONGEST, "read": LONGEST, "write": LONGEST, "pool": LONGEST}
#: Serves one connection.
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Network:
    """A transport, and servers on loopback for it."""

    def __init__(self, *, is_encrypted: bool) -> None:
        self.server_context = server_context() if is_encrypted else None
        self.transport = EngineTransport(ssl_context=ssl.create_default_context(cadata=authority()))
        #: The client port of each accepted connection.
        self.accepted: list[int] = []

    async def send(
        self,
        url: str,
        *,
        method: str = "GET",
        content: bytes | AsyncIterator[bytes] | None = None,
        times: Mapping[str, float | None] = TIMES,
    ) -> httpx.Response:
        """Send a request, and read its response."""
        extensions = {"timeout": times}
        request = httpx.Request(method, url, content=content, extensions=extensions)
        response = await self.transport.handle_async_request(request)
        try:
            await response.aread()
        finally:
            await response.aclose()
        return response

    @asynccontextmanager
    async def served(self, handler: Handler) -> AsyncIterator[str]:
        """Serve connections, and yield the address. A connection is closed when its handler returns."""
        tasks: set[asyncio.Task[None]] = set()

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            self.accepted.append(writer.get_extra_info("peername")[1])
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
                await handler(reader, writer)
            writer.close()

        server = await asyncio.start_server(run, "127.0.0.1", 0, ssl=self.server_context, limit=2**20)
        async with server:
            yield f"http{'s' if self.server_context else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def watched(route: str) -> Iterator[list[object]]:
    """Replace a function of httpx or httpcore, as tools do, and yield the requests that reach it."""
    seen: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        if route in WATCHED:
            own = getattr(*WATCHED[route])

            async def watch(sender: object, request: object, **others: object) -> object:
                seen.append(request)
                return await own(sender, request, **others)

            patch.setattr(*WATCHED[route], watch)
        yield seen


def on_every_network(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Make a test that runs a coroutine function on each network, and closes its transport at the end."""

    @functools.wraps(scenario)
    def run(**arguments: Any) -> None:
        name = arguments.pop("network")
        with watched(name):
            run_in(name, functools.partial(closed, is_encrypted="TLS" in name, arguments=arguments))

    async def closed(*, is_encrypted: bool, arguments: dict[str, Any]) -> None:
        network = Network(is_encrypted=is_encrypted)
        try:
            await scenario(network, **arguments)
        finally:
            await network.transport.aclose()

    parametrized: Callable[..., None] = pytest.mark.parametrize("network", NETWORKS)(run)
    return parametrized
