"""What a transport is given, returns and raises, under names that do not say which HTTP library it comes from."""

import ipaddress
import os
import socket
import ssl
from collections.abc import Iterator
from typing import TypeVar

import httpx

E = TypeVar("E", bound=BaseException)

Request = httpx.Request
Response = httpx.Response
Headers = httpx.Headers
#: The body of a response as it comes in.
BodyStream = httpx.AsyncByteStream
#: One that was read.
ReadBody = httpx.ByteStream

#: What a transport may raise instead of returning a response.
NO_RESPONSE = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, httpx.CookieConflict, OSError)
#: Among these: HTTP has no form for the request; there was no connection for it; the body of a response broke off.
UNSENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
BROKEN_OFF = (httpx.RequestError, OSError)
#: What a response raises for a body that was consumed without being kept.
NOT_KEPT = httpx.ResponseNotRead

#: These end a TLS connection as a lost one ends: a retry may help.
_LOST = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
#: With TLS 1.3 a service rejects a certificate, or the lack of one, when the handshake is over for the client.
_REJECTED = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")


def copy_of(request: Request) -> Request:
    """Copy a request, so that each one that was sent stays as it was for those who keep it."""
    return Request(
        request.method,
        request.url,
        headers=with_known_length(request.headers),
        content=request.content or None,
        extensions={**request.extensions},
    )


def copy_of_response(response: Response) -> Response:
    """Copy a response that was read, so that each call has its own."""
    assert isinstance(response.stream, ReadBody)  # noqa: S101  # its body can be read again
    return Response(
        response.status_code, headers=response.headers, stream=response.stream, extensions={**response.extensions}
    )


def with_known_length(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers for a body that is complete by now, though it was to be streamed."""
    if "transfer-encoding" not in headers:
        return headers
    return httpx.Headers([pair for pair in headers.raw if pair[0].lower() != b"transfer-encoding"])


def tls_failure(error: BaseException) -> str | None:
    """Return why a connection is not trusted by one of its sides; None for any other failure.

    Nothing was sent that the service has looked at, and a retry would not change it.
    """
    for cause in _chain(error):
        if not isinstance(cause, ssl.SSLError) or isinstance(cause, _LOST):
            continue
        reason = str(getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or cause)
        is_handshake = isinstance(error, httpx.ConnectError)
        if is_handshake or ("ALERT" in reason and any(word in reason for word in _REJECTED)):
            return reason
    return None


def kind_of_failure(error: BaseException | None) -> str:
    """Name a failure without what may be confidential: its class, and what TLS or the operating system said."""
    reason = None if error is None else tls_failure(error) or _said_by_the_system(error)
    return type(error).__name__ if reason is None else f"{type(error).__name__}: {reason}"


def _said_by_the_system(error: BaseException) -> str | None:
    for cause in _chain(error):
        if isinstance(cause, OSError) and cause.errno is not None and not isinstance(cause, ssl.SSLError):
            is_name = isinstance(cause, socket.gaierror)
            # asyncio adds the address to its text, and lists every address where there are several.
            return str(cause.strerror if is_name else os.strerror(cause.errno)).lower()
    return None


def is_nowhere(error: BaseException | None, *, host: str) -> bool:
    """Return whether an address most likely is wrong: its name is unknown, or nothing listens there on this machine."""
    causes = [] if error is None or not isinstance(error, NOT_CONNECTED) else list(_chain(error))
    if any(isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN for cause in causes):
        return True
    return is_loopback(host) and any(isinstance(cause, ConnectionRefusedError) for cause in causes)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def without_frames(error: E) -> E:
    """Remove the tracebacks of an error and of what it came from.

    The frames below hold requests, with token and body, and tools that report errors show what frames hold.
    """
    for cause in _chain(error):
        cause.__traceback__ = None
    return error


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and id(current) not in seen:
            seen.add(id(current))
            yield current
            left += [current.__context__, current.__cause__]
            if isinstance(current, BaseExceptionGroup):
                left += current.exceptions
