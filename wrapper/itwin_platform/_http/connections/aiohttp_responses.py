"""What arrives on a connection of aiohttp, filtered so that a malformed response ends a call as it does with httpx.

aiohttp 3.14 differs from httpx:

- It loses a response when malformed bytes arrive together with its head.
- When the rest of a body is malformed, its reader waits without a time limit.
- A body without a length counts as complete when a reset cuts it off.
- A Content-Length that stands twice, or beside a Transfer-Encoding, is rejected.
- The parser in Python, which some platforms have, accepts lengths that differ.
"""

import re
from typing import Any

#: The longest head of a response, in bytes; httpx's own limit is about the same.
LONGEST_HEAD = 131_072
#: A status below 200 announces that the response is still to come, except 101, which nobody has asked for.
_STATUS_LINE = re.compile(rb"HTTP/\d\.\d (?!101)[1-9]\d\d")
#: What says how long a body is: the values of Content-Length, and the names of other fields.
_FRAMING = re.compile(rb"\r\n(?:content-length:[ \t]*([^\r\n]*)|(transfer-encoding):)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[^\r\n]*", re.IGNORECASE)
#: After these aiohttp reads no body, whatever length they state.
_WITHOUT_BODY = (b"204", b"304")


class ResponseFilter:
    """Hands what arrives on a connection to aiohttp's protocol, each head by itself.

    Args:
        protocol: aiohttp's protocol.
        broken: the error of aiohttp for a response that is malformed or breaks off.
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
            data = self._after_head(self._head + data, searched=max(0, len(self._head) - 3))
        if data:
            body = self._protocol._payload  # noqa: SLF001  # aiohttp names the body nowhere else
            self._protocol.data_received(data)
            if self._protocol.exception() is not None:
                self._break_off(body)
        elif self._head is not None:
            # The response is still to come, also after an interim one, which ends aiohttp's read timeout.
            self._protocol.start_timeout()

    def _after_head(self, data: bytes, *, searched: int) -> bytes:
        """Hand on the head at the start of data, and return the rest; all of it if that is a complete response."""
        end = _end_of_head(data, searched)
        if not end and len(data) <= LONGEST_HEAD:
            self._head = data
            return b""
        if not end or not _STATUS_LINE.match(data):
            return self._reject()
        status = data[9:12]
        self._head = b"" if status < b"200" else None
        framing = _FRAMING.findall(data, 0, end)
        if framing == [(b"%d" % (len(data) - end), b"")] and b"200" <= status not in _WITHOUT_BODY:
            # Nothing malformed can follow, and one call of the parser is faster than two.
            return data
        head = _with_one_length(data[:end], framing)
        if head is None:
            return self._reject()
        self._protocol.data_received(head)
        return data[end:] if self._protocol.exception() is None else b""

    def _reject(self) -> bytes:
        self._protocol.abort()
        self._protocol.set_exception(self._broken("what arrived is no response"))
        return b""

    def connection_lost(self, error: Exception | None) -> None:
        """Hand on that the connection is gone."""
        if error is not None:
            self._break_off(self._protocol._payload)  # noqa: SLF001  # as above
        self._protocol.connection_lost(error)

    def _break_off(self, body: Any) -> None:
        if body is not None and not body.is_eof():
            body.set_exception(self._broken("the body broke off"))


def _end_of_head(data: bytes, searched: int) -> int:
    for end in (b"\r\n\r\n", b"\n\r\n", b"\n\n"):
        if (at := data.find(end, searched)) >= 0:
            return at + len(end)
    return 0


def _with_one_length(head: bytes, framing: list[tuple[bytes, bytes]]) -> bytes | None:
    """Return a head with one Content-Length in place of equal ones, and with none beside a Transfer-Encoding.

    None stands for a head whose lengths differ.
    """
    lengths = {part.strip() for length, other in framing if not other for part in length.split(b",")}
    if len(lengths) != 1:
        return None if lengths else head
    status_line, end_of_line, fields = _LENGTH.sub(b"", head).partition(b"\n")
    has_chunks = any(other for _, other in framing)
    length = b"" if has_chunks else b"content-length: %s\r\n" % lengths.pop()
    return status_line + end_of_line + length + fields
