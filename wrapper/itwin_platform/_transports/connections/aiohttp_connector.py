"""aiohttp's connections, checked before they are used again."""

import re
from typing import Any

from .network import is_socket_readable

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*(?=\r)", re.IGNORECASE)


def connector_class(aiohttp: Any) -> Any:
    """Make the class of the connector; aiohttp is imported by name."""

    class Connector(aiohttp.TCPConnector):  # type: ignore[misc]  # aiohttp is imported by name
        """Notices before a connection is used again that the service has closed it, or sent more than a response."""

        async def connect(self, *arguments: Any, **options: Any) -> Any:
            while True:
                connection = await super().connect(*arguments, **options)
                transport, protocol = connection.transport, connection.protocol
                if not isinstance(transport.get_protocol(), _Received):
                    transport.set_protocol(_Received(protocol))
                    return connection
                if not protocol.should_close and not is_socket_readable(transport):
                    return connection
                connection.close()

    return Connector


class _Received:
    """Hands what arrives to aiohttp's protocol, so that its parser takes what httpx takes.

    The parser rejects a second Content-Length, also an equal one. It loses a response when malformed bytes follow in
    the same segment: they are handed on separately.
    """

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        #: So many bytes of the body have not arrived; None where no Content-Length says how many there are.
        self._left: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def data_received(self, data: bytes) -> None:
        """Hand on what arrived."""
        start = 0
        if not self._left and data.startswith(b"HTTP/"):
            data = _with_one_length(data)
            start = data.find(b"\r\n\r\n") + 4
            length = _LENGTH.search(data, 0, start)
            self._left = None if length is None else int(length[1])
        end = self._end(data, start)
        self._protocol.data_received(data[:end])
        if end < len(data):
            self._protocol.data_received(data[end:])

    def _end(self, data: bytes, start: int) -> int:
        """Return where the response ends in a segment whose body starts there; its length if it goes on."""
        if self._left is None:
            # Within a body this may be found as well: it is harmless to hand on a body in two parts.
            last_chunk = data.find(b"\r\n0\r\n\r\n", max(0, start - 2))
            return len(data) if last_chunk < 0 else last_chunk + 7
        body = min(self._left, len(data) - start)
        self._left -= body
        return start + body


def _with_one_length(data: bytes) -> bytes:
    """Return a segment without the second of two equal Content-Lengths."""
    head, end, body = data.partition(b"\r\n\r\n")
    if len(lengths := _LENGTH.findall(head + b"\r")) < 2 or len(set(lengths)) > 1:
        return data
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
    return b"\r\n".join([*lines, b"content-length: " + lengths[0]]) + end + body
