"""Closes a connection on which more has arrived than the response: the next request would get it as its response."""

import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..._version import LOG

#: Attributes in which httpx 0.27 and 0.28, httpcore 1 and most wrappers keep what they wrap.
_INNER = ("_stream", "_httpcore_stream", "_connection")
#: How many wrappers are looked into.
_DEPTH = 12


async def close_if_surplus(stream: object, extensions: Mapping[str, Any]) -> None:
    """Close the connection of a response that has been read, unless it can be used again.

    Args:
        stream: the body of the response, as the transport returned it.
        extensions: what the transport says of the response.

    httpcore keeps surplus bytes of one `recv` in h11's buffer and reads the next response from there. It has no public
    attribute for that: where the buffer cannot be found, the connection is closed after every response.
    """
    network_stream = extensions.get("network_stream")
    if network_stream is None or extensions.get("http_version") not in (b"HTTP/1.1", b"HTTP/1.0"):
        return
    if getattr(network_stream, "sees_surplus", False):
        return
    connection = _connection_of(stream)
    if connection is None:
        _warn(type(stream).__qualname__)
        await network_stream.aclose()
    elif _has_surplus(connection, network_stream):
        await connection.aclose()


def _connection_of(stream: Any) -> Any:
    for _ in range(_DEPTH):
        if hasattr(stream, "_h11_state"):
            return stream
        stream = next((inner for name in _INNER if (inner := getattr(stream, name, None)) is not None), None)
    return None


def _has_surplus(connection: Any, network_stream: Any) -> bool:
    h11_connection = connection._h11_state  # noqa: SLF001  # see above
    if h11_connection.our_state is not h11_connection.their_state:
        # Not reusable, or in use again: a wrapper read the response and gave its connection back.
        return False
    if h11_connection.trailing_data[0]:
        return True
    tls = network_stream.get_extra_info("ssl_object")
    if tls is None:
        return False
    try:
        # A record that arrived together with the response waits inside of the TLS layer, where no socket shows it.
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        return True
    return True


@lru_cache(maxsize=1)
def _warn(kind: str) -> None:
    LOG.warning("responses of %s do not show their connection: each connection is used for one request", kind)
