"""Responses on their way to aiohttp's parser, so that it accepts and loses what httpx accepts and loses.

aiohttp 3.14 differs from httpx in four ways:

- It loses a response when malformed bytes arrive together with its head.
- It does not tell who reads a body that the rest is malformed: the reader waits without a time limit.
- It takes a body without a length that is cut by a reset for a complete one.
- It rejects a Content-Length that stands twice, or beside a Transfer-Encoding.
"""

import re
from typing import Any

#: The longest head of a response, in bytes; httpx's own limit is a little lower.
LONGEST_HEAD = 131_072
#: What says how long a body is: the values of Content-Length, and the names of other fields.
_FRAMING = re.compile(rb"\r\n(?:content-length:[ \t]*([^\r\n]*)|(transfer-encoding):)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[^\r\n]*", re.IGNORECASE)
#: After these aiohttp reads no body, whatever length they state.
_WITHOUT_BODY = (b"204", b"304")


class ResponseFilter:
    """Hands what arrives on a connection to aiohttp's protocol, each head by itself.

    Args:
        protocol: aiohttp's protocol.
        broken: the error of aiohttp for a body that breaks off.
    """

    def __init__(self, protocol: Any, *, broken: type[Exception]) -> None:
        self._protocol = protocol
        self._broken = broken
        #: What has arrived of a head; None while a body is expected.
        self._head: bytes | None = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def expect_head(self) -> None:
        """Prepare for the response to another request."""
        self._head = b""

    def data_received(self, data: bytes) -> None:
        """Hand on what arrived."""
        while data and self._head is not None:
            data = self._after_head(self._head + data)
        if data:
            body = self._protocol._payload  # noqa: SLF001  # aiohttp names the body nowhere else
            self._protocol.data_received(data)
            if self._protocol.exception() is not None:
                self._break_off(body)

    def _after_head(self, data: bytes) -> bytes:
        """Hand on the head at the start of data, and return the rest; all of it if that is a complete response."""
        end = _end_of_head(data)
        if not end and len(data) <= LONGEST_HEAD:
            self._head = data
            return b""
        if not end or not data.startswith(b"HTTP/"):
            self._protocol.abort()
            return b""
        status = data[9:12]
        # 100 to 199 announce that the response is still to come, except 101.
        self._head = b"" if status.startswith(b"1") and status != b"101" else None
        framing = _FRAMING.findall(data, 0, end)
        if framing == [(b"%d" % (len(data) - end), b"")] and status not in _WITHOUT_BODY and self._head is None:
            # Nothing malformed can follow, and one call of the parser is faster than two.
            return data
        self._protocol.data_received(_with_one_length(data[:end], framing))
        return data[end:]

    def connection_lost(self, error: Exception | None) -> None:
        """Hand on that the connection is gone."""
        if error is not None:
            self._break_off(self._protocol._payload)  # noqa: SLF001  # as above
        self._protocol.connection_lost(error)

    def _break_off(self, body: Any) -> None:
        if body is not None and not body.is_eof():
            body.set_exception(self._broken("the body broke off"))


def _end_of_head(data: bytes) -> int:
    for end in (b"\r\n\r\n", b"\n\r\n", b"\n\n"):
        if (at := data.find(end)) >= 0:
            return at + len(end)
    return 0


def _with_one_length(head: bytes, framing: list[tuple[bytes, bytes]]) -> bytes:
    """Return a head with one Content-Length in place of equal ones, and with none beside a Transfer-Encoding."""
    lengths = {part.strip() for length, other in framing if not other for part in length.split(b",")}
    if len(lengths) != 1:
        return head
    status, fields = _LENGTH.sub(b"", head).split(b"\r\n", 1)
    has_chunks = any(other for _, other in framing)
    return b"\r\n".join([status, *([] if has_chunks else [b"content-length: " + lengths.pop()]), fields])
