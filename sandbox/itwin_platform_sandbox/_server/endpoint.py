"""The service as an ASGI application: the only module that reads ASGI messages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from .._faults.faulty_service import Decision
from .._faults.scripted_responses import too_large
from .._faults.wire import Connection, deliver
from .._service.messages import APIRequest, Body
from .deliveries import changed_itwin
from .journal import Recording
from .running import RunningSandbox

# Above the 4.5 MiB of Create scene, which checks them itself. A longer body is not kept in memory.
MOST_BODY_BYTES = 8 * 2**20
# Of larger bodies, so many are in memory at once; others wait in their connections.
LARGE_BODY_BYTES = 64 * 2**10
MOST_LARGE_BODIES = 8


class Bodies:
    """Reads the bodies of requests, and bounds the memory of all of them together."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(MOST_LARGE_BODIES)

    @asynccontextmanager
    async def read(self, receive: Receive, most: int = MOST_BODY_BYTES) -> AsyncIterator[bytes | None]:
        """Read a body, which has a place in memory inside `async with`.

        None once it is longer than `most` bytes; raises `ClientDisconnect`.
        """
        async with AsyncExitStack() as stack:
            body = bytearray()
            more, has_place = True, False
            while more and len(body) <= most:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > LARGE_BODY_BYTES and not has_place:
                    await stack.enter_async_context(self._places)
                    has_place = True
            yield bytes(body) if len(body) <= most else None


class ServiceEndpoint:
    """The service as an ASGI application; keeps a record of every request."""

    def __init__(self, sandbox: RunningSandbox, bodies: Bodies) -> None:
        self._sandbox = sandbox
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        sandbox = self._sandbox
        request = read_head(scope)
        operation = sandbox.service.operation(request)
        name, route = (operation.name, operation.route) if operation else (None, None)
        recording = sandbox.recorder.begin(request, name, route)
        connection = Connection(scope, receive, send, sleep=sandbox.sleep, ended=recording.end)
        try:
            decision = await self._decide(request, receive, recording)
            recording.explain(
                decision.body,
                len(decision.response.body) if decision.response else 0,
                notes=decision.notes,
                faults=decision.faults,
                rate_limit=decision.rate_limit,
            )
            await deliver(connection, decision.response, decision.delivery)
        except ClientDisconnect:
            return  # the client has closed the connection; the status of the record stays None
        finally:
            recording.end()

    async def _decide(self, request: APIRequest, receive: Receive, recording: Recording) -> Decision:
        sandbox = self._sandbox
        async with self._bodies.read(receive) as content:
            if content is None:
                note = f"The body is larger than {MOST_BODY_BYTES} bytes and was not kept."
                return Decision(operation=None, response=too_large(sandbox.service.now()), notes=(note,))
            body = Body(content)
            recording.body(body)
            latency = sandbox.next_delay()
            if latency > 0:
                await sandbox.sleep(latency)
            decision = sandbox.service.decide(replace(request, body=body))
        if decision.operation is not None and decision.response is not None and decision.response.status < 300:
            parameters = decision.operation.path_parameters(request.path.removeprefix(sandbox.settings.path_prefix))
            itwin_id = changed_itwin(decision.operation.name, request, parameters)
            if itwin_id is not None:
                sandbox.deliver_change(itwin_id)
        return decision


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
