"""Certificates for loopback: a CA, and certificates that no client should trust."""

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_NOW = datetime.datetime.now(datetime.UTC)
_DAY = datetime.timedelta(days=1)


@cache
def _authority() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key.public_key(), ends=_NOW + 30 * _DAY)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return key, builder.add_extension(usage, critical=True).sign(key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, ends: datetime.datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(_NOW - 30 * _DAY)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def authority() -> str:
    """Return the certificate of the CA, to be trusted, as PEM."""
    return _authority()[1].public_bytes(serialization.Encoding.PEM).decode()


def server_context(*, address: str = "127.0.0.1", expired: bool = False, self_signed: bool = False) -> ssl.SSLContext:
    """Return the TLS context of a service on loopback."""
    ca_key, ca = _authority()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "service")])
    ends = _NOW - _DAY if expired else _NOW + 30 * _DAY
    builder = _builder(name, name if self_signed else ca.subject, key.public_key(), ends=ends)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
    signer = key.public_key() if self_signed else ca_key.public_key()
    builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    certificate = builder.sign(key if self_signed else ca_key, hashes.SHA256())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with TemporaryDirectory() as folder:
        chain = Path(folder) / "chain.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(chain)
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
