"""A certificate for one run, with which clients test their verification. Needs the extra `tls`."""

import ssl
from dataclasses import dataclass, field

NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ThrowawayCertificate:
    """The TLS context of the server, and the certificate of its authority as PEM."""

    server: ssl.SSLContext = field(repr=False)
    authority: bytes = field(repr=False)


def throwaway_certificate(host: str) -> ThrowawayCertificate:
    """Make an authority and a certificate for the loopback names and `host`; `ImportError` without the extra."""
    try:
        import trustme
    except ImportError as error:
        raise ImportError(f"{error}: TLS needs `pip install trustme`") from error
    authority = trustme.CA()
    names = [*NAMES, host] if host not in (*NAMES, "0.0.0.0", "::") else NAMES  # noqa: S104 - excluded, not bound
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(server)
    return ThrowawayCertificate(server, authority.cert_pem.bytes())
