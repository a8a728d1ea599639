"""The exceptions of an attempt without a response: their kinds, their reasons, and the remedies."""

import os
import re
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

import httpx

from ..names import is_client_module
from .hosts import is_loopback

E = TypeVar("E", bound=BaseException)


class SettingError(httpx.LocalProtocolError):
    """A network setting of the environment, or of an argument, cannot be used.

    The text names the setting, and holds nothing confidential.
    """


#: The exceptions of a transport that count as an attempt without a response.
NO_RESPONSE = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, httpx.CookieConflict, OSError)
#: Raised for a request that cannot be written as HTTP.
UNSENDABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
#: Raised when there was no connection to send the request on.
NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)

#: TLS errors that mean that the connection was dropped: a retry may help.
_LOST = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
#: Raised when the peer closes the connection during the handshake.
_CUT_OFF = (ssl.SSLEOFError, ConnectionResetError)
#: Raised when the peer resets a connection.
_RESET = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
#: Prefix of the note on an error that names the proxy of the attempt.
THROUGH_PROXY = "through the proxy "
#: Two reasons for a missing response, and the texts of h11 for them. httpx's own transports parse with h11.
NOT_HTTP = "it responded with bytes that are not HTTP"
CLOSED = "it closed the connection without a response"
_MEANINGS_IN_H11 = {
    **dict.fromkeys(("illegal status line", "illegal request line", "no response line received"), NOT_HTTP),
    "Server disconnected without sending a response": CLOSED,
}

#: With TLS 1.3 a service rejects a certificate, or the lack of one, when the handshake is over for the client.
_REJECTED = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")
#: The remedy for a TLS failure, by the reason that OpenSSL names.
_REMEDIES = (
    (re.compile("local issuer|self[- ]signed"), "trust the authority of its certificate with ssl_context="),
    (re.compile("NO_APPLICATION_PROTOCOL"), 'offer HTTP/1.1 with set_alpn_protocols(["http/1.1"])'),
    (re.compile("WRONG_VERSION|HTTP_REQUEST|RECORD_LAYER|LENGTH_TOO_LONG"), "{} does not speak TLS: is it http://?"),
)


def why_final(error: BaseException) -> str | None:
    """Return why a retry would not change a failure to connect; None for any other failure.

    After such a failure, the service has processed nothing of the request.
    """
    if isinstance(error, SettingError):
        return str(error)
    if isinstance(error, httpx.ProxyError):
        status = str(error)[:3]
        if not (status.isdecimal() and status.startswith("4")):
            return None
        remedy = ": its URL needs a user and a password that it accepts" if status == "407" else ""
        return f"the proxy rejects the connection, with status {status}{remedy}"
    return _tls_failure(error)


def _tls_failure(error: BaseException) -> str | None:
    """Return why one side does not trust the other one; None for any other failure."""
    for cause in chain_of(error):
        if not isinstance(cause, ssl.SSLError) or isinstance(cause, _LOST):
            continue
        reason = str(getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or cause)
        # If OpenSSL names no reason, the text ends with a line number of Python's source.
        reason = reason.partition(" (_ssl.c:")[0]
        is_handshake = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        if is_handshake or ("_ALERT_" in reason and any(word in reason for word in _REJECTED)):
            return reason
    return None


def is_not_http(error: BaseException | None, *, scheme: str) -> bool:
    """Return whether the other side shows no sign of HTTP: it sends other bytes, or, over plain http, nothing.

    A service that speaks TLS does either when it gets a request over plain http.
    """
    reason = _http_failure(error)
    if scheme != "http" or error is None or isinstance(error, NOT_CONNECTED):
        return reason == NOT_HTTP
    return reason is not None or any(isinstance(cause, _RESET) for cause in chain_of(error))


def _http_failure(error: BaseException | None) -> str | None:
    """Return NOT_HTTP or CLOSED if that is the reason of an error, also in the words of h11; None for any other."""
    if isinstance(error, httpx.ConnectError) and any(isinstance(cause, _CUT_OFF) for cause in chain_of(error)):
        return CLOSED
    text = str(error) if isinstance(error, httpx.RemoteProtocolError) else ""
    meanings = (meaning for words, meaning in _MEANINGS_IN_H11.items() if text.startswith(words))
    return text if text in (NOT_HTTP, CLOSED) else next(meanings, None)


def kind_of_failure(error: BaseException | None, *, may_need_https: bool = False) -> str:
    """Describe a failure without anything confidential: its class, its reason, the remedy, and the proxy.

    Args:
        error: the exception of an attempt without a response.
        may_need_https: whether plain http was sent to an address that has shown no sign of HTTP.
    """
    assert error is not None  # noqa: S101  # an attempt without a response has an error
    reason = why_final(error) or _system_error(error) or _http_failure(error)
    through = next((note for note in getattr(error, "__notes__", ()) if note.startswith(THROUGH_PROXY)), "")
    remedy = "does it need https?" if may_need_https else _remedy(reason or "", through=through)
    return ": ".join(filter(None, [type(error).__name__, reason, remedy, through]))


def _remedy(reason: str, *, through: str) -> str | None:
    speaker = "the proxy" if through.startswith(f"{THROUGH_PROXY}https") else "the server"
    return next((remedy.format(speaker) for pattern, remedy in _REMEDIES if pattern.search(reason)), None)


def _system_error(error: BaseException) -> str | None:
    for cause in chain_of(error):
        if isinstance(cause, OSError) and cause.errno is not None and not isinstance(cause, ssl.SSLError):
            is_name = isinstance(cause, socket.gaierror)
            # Not the text of the error, to which asyncio adds one address or all of them.
            return str(cause.strerror if is_name else os.strerror(cause.errno)).lower()
    return None


def is_wrong_address(error: BaseException | None, *, host: str) -> bool:
    """Return whether an address most likely is wrong: its name is unknown, or nothing listens there on this machine."""
    causes = [] if error is None or not isinstance(error, NOT_CONNECTED) else list(chain_of(error))
    if any(isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN for cause in causes):
        return True
    return is_loopback(host) and any(isinstance(cause, ConnectionRefusedError) for cause in causes)


#: The packages below this one that catch exceptions while a request is sent.
_BELOW = sys.stdlib_module_names | {"anyio", "httpcore", "httpcore2", "httpx", "httpx2"}


def remove_frames(error: BaseException) -> None:
    """Remove the tracebacks of an error, of its causes and of its contexts.

    Their frames hold requests, with token and body, and error trackers capture the variables of frames. An exception
    that the application has caught keeps its traceback, for example the one that it handles during the call.
    """
    for cause in chain_of(error, is_included=_was_caught_below):
        cause.__traceback__ = None


def without_own_frames(error: E) -> E:
    """Remove from a traceback the frames of this package that called a function of the application."""
    frames = error.__traceback__
    while frames is not None and is_client_module(frames.tb_frame.f_globals.get("__name__", "")):
        frames = frames.tb_next
    return error.with_traceback(frames)


def _was_caught_below(error: BaseException) -> bool:
    """Return whether this package, or one below it, has caught an exception: its traceback begins with that frame."""
    if error.__traceback__ is None:
        return True
    module: str = error.__traceback__.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in _BELOW or is_client_module(module)


def chain_of(
    error: BaseException, *, is_included: Callable[[BaseException], bool] = lambda _: True
) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts; nothing of an error that is not included."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and id(current) not in seen and is_included(current):
            seen.add(id(current))
            yield current
            left += [current.__context__, current.__cause__]
            if isinstance(current, BaseExceptionGroup):
                left += current.exceptions
