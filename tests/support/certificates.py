"""Certificates for loopback: a CA, and certificates that no client should trust."""

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

import trustme


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def authority() -> str:
    """Return the certificate of the CA, to be trusted, as PEM."""
    return _authority().cert_pem.bytes().decode()


def server_context(*, address: str = "127.0.0.1", expired: bool = False, self_signed: bool = False) -> ssl.SSLContext:
    """Return the TLS context of a service on loopback."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    if self_signed:
        other = trustme.CA()
        with trustme.Blob(other.private_key_pem.bytes() + other.cert_pem.bytes()).tempfile() as chain:
            context.load_cert_chain(chain)
        return context
    ends = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1) if expired else None
    _authority().issue_cert(address, not_after=ends).configure_cert(context)
    return context


class Doorkeeper:
    """Takes TLS connections in a thread, sends the alert of each that fails, and never reads a request.

    The event loop's own TLS does not send the alert of a handshake that fails.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"https://127.0.0.1:{self._socket.getsockname()[1]}"
        self.connections = 0

    def run(self) -> None:
        """Take connections until the socket is closed."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as tls:
                with suppress(OSError):
                    tls.do_handshake()
                # A close with a request unread would reset the connection, which may overtake the alert.
                with suppress(OSError):
                    socket.socket.shutdown(tls, socket.SHUT_WR)
                    while socket.socket.recv(tls, 65_536):
                        pass

    def close(self) -> None:
        """Take no more connections."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def doorkeeper(context: ssl.SSLContext) -> Iterator[Doorkeeper]:
    """Run a doorkeeper."""
    keeper = Doorkeeper(context)
    thread = threading.Thread(target=keeper.run)
    thread.start()
    try:
        yield keeper
    finally:
        keeper.close()
        thread.join()
