"""aiohttp's connections, checked before they are used again."""

from typing import Any

from .network import is_socket_readable


def connector_class(aiohttp: Any) -> Any:
    """Make the class of the connector; aiohttp is imported by name."""

    class Connector(aiohttp.TCPConnector):  # type: ignore[misc]  # aiohttp is imported by name
        """Notices before a connection is used again that the service has closed it, or sent more than a response."""

        async def connect(self, *arguments: Any, **options: Any) -> Any:
            while True:
                connection = await super().connect(*arguments, **options)
                transport, protocol = connection.transport, connection.protocol
                if not isinstance(transport.get_protocol(), _OneContentLength):
                    transport.set_protocol(_OneContentLength(protocol))
                    return connection
                if not protocol.should_close and not is_socket_readable(transport):
                    return connection
                connection.close()

    return Connector


class _OneContentLength:
    """Hands what arrives to aiohttp's protocol, without a second, equal Content-Length, which its parser rejects."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def data_received(self, data: bytes) -> None:
        """Hand on what arrived."""
        if data.startswith(b"HTTP/"):
            end = data.find(b"\r\n\r\n")
            head = data if end < 0 else data[:end]
            if head.lower().count(b"\r\ncontent-length:") > 1:
                lines = head.split(b"\r\n")
                lengths = [line for line in lines if line.lower().startswith(b"content-length:")]
                if len({line.partition(b":")[2].strip() for line in lengths}) == 1:
                    lines = [*(line for line in lines if line not in lengths), lengths[0]]
                    data = b"\r\n".join(lines) + data[len(head) :]
        self._protocol.data_received(data)
