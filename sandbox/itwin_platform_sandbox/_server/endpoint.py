"""HTTP in, HTTP out: the only module that turns ASGI messages into requests of the service."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from .._faults.faulty_service import FaultyService
from .._faults.wire import Connection, deliver
from .._service.messages import APIRequest
from .recorder import Recorder


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
        """ServiceResponse one request."""
        request = read_head(scope)
        recording = self._recorder.begin(request, self._service.operation(request))
        connection = Connection(scope, receive, send, sleep=self._sleep, recording=recording)
        try:
            request = replace(request, body=await Request(scope, receive).body())
            recording.body(request.body)
            latency = self._latency()
            if latency > 0:
                await self._sleep(latency)
            decision = self._service.decide(request)
            await deliver(connection, decision.response, decision.delivery)
        except ClientDisconnect:
            return  # nobody is left to response; the record says so with a status of None
        finally:
            recording.end()


def read_head(scope: Scope) -> APIRequest:
    """The request without its body; of a query parameter that comes twice the last one counts."""
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
