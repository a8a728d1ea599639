"""Sends responses, complete or with a fault. The only module that touches connections.

The server adds the transport of each connection to the scope, so that faults below HTTP are possible: half a status
line, a reset in the middle of a body.
"""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from http import HTTPStatus

from starlette.types import Receive, Scope, Send

from .._service.messages import WireResponse
from .catalogue import FaultName
from .plan import Fault

TRICKLE_PIECES = 20
TRICKLE_SECONDS = 5.0
# SO_LINGER on with a time of 0: closing sends a reset and drops unsent data.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
TRANSPORT_EXTENSION = "itwin_platform_sandbox.transport"


def real_socket(transport: asyncio.BaseTransport) -> socket.socket:
    """Return a second socket object for the connection, which the caller must close.

    The socket object of a transport is restricted: with uvloop it has neither `shutdown` nor `setsockopt`.
    """
    shown = transport.get_extra_info("socket")
    return socket.fromfd(shown.fileno(), shown.family, shown.type, shown.proto)


class Connection:
    """The connection of one request; `ended` receives the status just before the last byte is sent."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        sleep: Callable[[float], Awaitable[None]],
        ended: Callable[[int | None], None],
    ) -> None:
        self._transport: asyncio.Transport = scope["extensions"][TRANSPORT_EXTENSION]
        self._receive = receive
        self._send = send
        self._ended = ended
        self.sleep = sleep

    async def send_complete(self, response: WireResponse) -> None:
        """Send the response without a fault."""
        # A client that has the response must find its record, so the record is added before the last byte is sent.
        self._end(response)
        await self._send({"type": "http.response.start", "status": response.status, "headers": _raw_headers(response)})
        await self._send({"type": "http.response.body", "body": response.body})

    async def send_in_pieces(self, response: WireResponse, seconds: float) -> None:
        """Send the body in small pieces with pauses between them."""
        size = max(1, len(response.body) // TRICKLE_PIECES)
        pieces = [response.body[at : at + size] for at in range(0, len(response.body), size)] or [b""]
        await self._send({"type": "http.response.start", "status": response.status, "headers": _raw_headers(response)})
        for piece in pieces[:-1]:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await self.sleep(seconds / len(pieces))
        self._end(response)
        await self._send({"type": "http.response.body", "body": pieces[-1]})

    async def reset(self, beginning: bytes = b"") -> None:
        """Send the first bytes of a response and reset the connection."""
        if beginning:
            self._transport.write(beginning)
        self._ended(None)
        with real_socket(self._transport) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        await self.abort()

    async def abort(self) -> None:
        """Close the connection without a response."""
        self._transport.abort()
        await self.until_client_leaves()

    def _end(self, response: WireResponse) -> None:
        # A client that has left during a delay gets no response.
        self._ended(None if self._transport.is_closing() else response.status)

    async def until_client_leaves(self) -> None:
        """Wait until the client closes the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _raw_headers(response: WireResponse) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    return [*headers, (b"content-length", str(len(response.body)).encode("ascii"))]


def _wire_head(response: WireResponse) -> bytes:
    lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}".encode("ascii")]
    lines += [name + b": " + value for name, value in _raw_headers(response)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


# The bytes sent before a reset, by a function of the head and the body of the response.
BEGINNINGS: Mapping[FaultName, Callable[[bytes, bytes], bytes]] = {
    "reset_after_effect": lambda _, __: b"",
    "reset_in_head": lambda head, _: head[: len(head) // 2],
    "reset_in_body": lambda head, body: head + body[: len(body) // 2],
}
# The bytes sent in place of a body.
BODIES: Mapping[FaultName, Callable[[bytes], bytes]] = {
    "truncated_json": lambda body: body[: len(body) // 2],
    "empty": lambda _: b"",
    "null": lambda _: b"null",
    "list": lambda _: b'[1, "two", null]',
}


async def deliver(connection: Connection, response: WireResponse | None, fault: Fault | None) -> None:
    """Send the response with the fault; without a response, reset the connection."""
    if response is None:
        await connection.reset()
    elif fault is None:
        await connection.send_complete(response)
    elif fault.name in BEGINNINGS:
        await connection.reset(BEGINNINGS[fault.name](_wire_head(response), response.body))
    elif fault.name == "trickle":
        await connection.send_in_pieces(response, TRICKLE_SECONDS if fault.seconds is None else fault.seconds)
    elif fault.name == "stall" and fault.seconds is None:
        await connection.until_client_leaves()
    elif fault.name == "stall":
        await connection.sleep(fault.seconds or 0)
        await connection.send_complete(response)
    else:
        await connection.send_complete(replace(response, body=BODIES[fault.name](response.body)))
