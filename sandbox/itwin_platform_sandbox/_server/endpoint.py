"""The service as an ASGI application: the only module that reads ASGI messages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from .._faults.faulty_service import Decision
from .._faults.scripted_responses import too_large
from .._faults.wire import Connection, deliver
from .._service.messages import APIRequest, Body
from .._service.service import Route
from .deliveries import changed_itwin
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
        async with self._bodies.read(receive) as content:
            if content is None:
                note = f"The body is larger than {MOST_BODY_BYTES} bytes and was not kept."
                return Decision(*too_large(sandbox.clock.now(), note))
            request.body = Body(content)
            latency = sandbox.next_delay()
            if latency > 0:
                await sandbox.sleep(latency)
            other = None if route else sandbox.other_routes.get((request.method, request.path))
            if other is not None:
                return sandbox.decide_other(other)
            decision = sandbox.service.decide(request, route)
        if route is not None and decision.response is not None and decision.response.status < 300:
            itwin_id = changed_itwin(route, request)
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
