"""aiohttp's connections: checked before they are used again, and with nothing left of what aiohttp has closed."""

import asyncio
from typing import Any
from weakref import WeakSet

from .aiohttp_responses import ResponseFilter
from .network import is_socket_readable


def connector_class(aiohttp: Any) -> Any:
    """Make the class of the connector; aiohttp is imported by name."""

    class Connector(aiohttp.TCPConnector):  # type: ignore[misc]  # aiohttp is imported by name
        """Notices before a connection is used again that the service has closed it, or sent more than a response."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self._opened: WeakSet[asyncio.Transport] = WeakSet()

        async def connect(self, *arguments: Any, **options: Any) -> Any:
            while True:
                connection = await super().connect(*arguments, **options)
                transport, protocol = connection.transport, connection.protocol
                received = transport.get_protocol()
                if not isinstance(received, ResponseFilter):
                    transport.set_protocol(ResponseFilter(protocol, broken=aiohttp.ClientPayloadError))
                    self._opened.add(transport)
                    return connection
                if not protocol.should_close and not is_socket_readable(transport):
                    received.expect_head()
                    return connection
                connection.close()

        def abort_closing(self) -> None:
            """End connections that aiohttp is closing: it would first send all of a request that nobody may read."""
            for transport in list(self._opened):
                if transport.is_closing():
                    transport.abort()

    return Connector
