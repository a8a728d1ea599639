"""The service as an ASGI application: the only module that reads ASGI messages."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from .._faults.faulty_service import FaultyService
from .._faults.scripted_responses import too_large
from .._faults.wire import Connection, deliver
from .._service.messages import APIRequest
from .recorder import Recorder

# Above the 4.5 MiB of Create scene, which checks them itself. A longer body is not kept in memory.
MOST_BODY_BYTES = 8 * 2**20


class ServiceEndpoint:
    """The service as an ASGI application; keeps a record of every request."""

    def __init__(
        self,
        service: FaultyService,
        *,
        recorder: Recorder,
        sleep: Callable[[float], Awaitable[None]],
        latency: Callable[[], float],
    ) -> None:
        self._service = service
        self._recorder = recorder
        self._sleep = sleep
        self._latency = latency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        request = read_head(scope)
        recording = self._recorder.begin(request, self._service.operation(request))
        connection = Connection(scope, receive, send, sleep=self._sleep, ended=recording.end)
        try:
            body = await read_body(receive)
            if body is None:
                recording.notes((f"The body is larger than {MOST_BODY_BYTES} bytes and was not read completely.",))
                await deliver(connection, too_large(self._service.now()), None)
                return
            recording.body(body)
            latency = self._latency()
            if latency > 0:
                await self._sleep(latency)
            decision = self._service.decide(replace(request, body=body))
            recording.notes(decision.notes)
            await deliver(connection, decision.response, decision.delivery)
        except ClientDisconnect:
            return  # the client has closed the connection; the status of the record stays None
        finally:
            recording.end()


async def read_body(receive: Receive, most: int = MOST_BODY_BYTES) -> bytes | None:
    """Return the body, or None once it is longer than `most` bytes; raises `ClientDisconnect`."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def read_head(scope: Scope) -> APIRequest:
    """Return the request without its body; the last one of several equal query parameters counts."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return APIRequest(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1"),
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers=headers,
        origin=f"{scope['scheme']}://{headers.get('host', '127.0.0.1')}",
    )
