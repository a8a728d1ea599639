"""The service as an ASGI application: the only module that reads ASGI messages."""

import asyncio
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from .._faults.faulty_service import Decision
from .._faults.scripted_responses import too_large
from .._faults.wire import Connection, deliver
from .._service.messages import APIRequest, Body
from .._service.service import Route
from .running import RunningSandbox

# Above the 4.5 MiB that Create scene accepts.
MOST_BODY_BYTES = 8 * 2**20


async def read_body(receive: Receive, most: int = MOST_BODY_BYTES) -> bytes | None:
    """Return a body, or None once it is longer than `most` bytes; raise `ClientDisconnect`."""
    body = bytearray()
    more = True
    while more and len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body) if len(body) <= most else None


class ServiceEndpoint:
    """The service as an ASGI application; keeps a record of every request."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        self._sandbox = sandbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        sandbox = self._sandbox
        request = read_head(scope)
        route = sandbox.service.route(request)
        task = asyncio.current_task()
        recording = sandbox.recorder.begin(request, route.operation if route else None, task)
        connection = Connection(scope, receive, send, sleep=sandbox.sleep, ended=recording.end)
        try:
            decision = recording.decision = await self._decide(request, route, receive)
            recording.is_held = decision.delivery is not None
            await deliver(connection, decision.response, decision.delivery)
        except ClientDisconnect:
            return  # the client has closed the connection; the status of the record stays None
        except asyncio.CancelledError:
            if not recording.is_cut_off or task is None:
                raise
            task.uncancel()
            recording.end()
            await connection.abort()
        finally:
            recording.end()

    async def _decide(self, request: APIRequest, route: Route | None, receive: Receive) -> Decision:
        sandbox = self._sandbox
        content = await read_body(receive)
        if content is None:
            note = f"The body is larger than {MOST_BODY_BYTES} bytes and was not kept."
            return Decision(*too_large(sandbox.clock.now(), note))
        request.body = Body(content)
        if sandbox.latency > 0:
            await sandbox.sleep(sandbox.latency)
        other = None if route else sandbox.other_routes.get((request.method, request.path))
        return sandbox.service.decide(request, route) if other is None else sandbox.decide_other(other)


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
