"""The control interface over HTTP."""

import functools
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias, cast

import msgspec
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .._faults.plan import Fault, fault_of, fault_values
from .._service.credentials import TokenRights
from .._service.json_values import (
    JSON,
    FieldError,
    JSONObject,
    NotJSONError,
    check_choice,
    checked,
    read_json,
    write_json,
)
from .._service.rate_limit import ServiceRateLimit
from .._service.service import OPERATIONS
from .._service.state import has_authentication, has_secret, stored_item
from .endpoint import ServiceEndpoint, read_body
from .gatekeeping import with_host_check
from .journal import RecordedRequest, redacted
from .overview import delivery_values, overview, rate_values
from .running import REFUSE, Advance, Latency, OtherRoute, RunningSandbox
from .settings import CONTROL_PATH as ROOT

MOST_BODY_BYTES = 2**20
FOREIGN_ORIGIN = "A page of another origin may not control the sandbox."
# A handler returns a status and a value to send as JSON, or a response.
Result: TypeAlias = tuple[int, JSON] | Response
Handler: TypeAlias = Callable[[RunningSandbox, Request], Awaitable[Result]]
_NO_CONTENT = 204


class _Values(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields of a request."""


class _Secret(_Values):
    webhook_id: str | None = None
    secret: str = ""
    repository_id: str | None = None
    authentication: dict[str, object] | None = None


class _Event(_Values):
    webhook_id: str
    event_type: str
    content: dict[str, object]


class _Filters(_Values):
    operation: str | None = None
    status: Annotated[str, msgspec.Meta(pattern=r"^(\d{3}|none)\Z")] | None = None


async def _body(request: Request) -> JSON:
    """Return the body as JSON, an empty one as an empty object; `FieldError` if it is too large or no JSON."""
    body = await read_body(request.receive, MOST_BODY_BYTES)
    if body is None:
        raise FieldError(None, f"the body is larger than {MOST_BODY_BYTES} bytes")
    try:
        return read_json(body) if body else {}
    except NotJSONError as error:
        raise FieldError(None, f"the body is not JSON: {error}") from error


def _json_response(value: JSON, status: int = 200, *, background: BackgroundTask | None = None) -> Response:
    # As ASCII: a lone surrogate can be stored, and UTF-8 cannot encode it.
    return Response(write_json(value), status, media_type="application/json", background=background)


def _error_response(status: int, code: str, message: str, target: str | None) -> Response:
    return _json_response({"error": {"code": code, "message": message, "target": target, "details": []}}, status)


async def show_overview(sandbox: RunningSandbox, _: Request) -> Result:
    """Return address, token, ids and settings."""
    return 200, overview(sandbox)


async def reset(sandbox: RunningSandbox, _: Request) -> Result:
    """Restore the state of the start."""
    sandbox.reset()
    return 200, overview(sandbox)


async def show_stored(sandbox: RunningSandbox, request: Request) -> Result:
    """Return one stored item without its secrets."""
    kind = request.path_params["kind"]
    stored = stored_item(sandbox.platform, kind, request.path_params["id"])
    if stored is None:
        return _error_response(404, "NotFound", f"No {kind} with this id is stored.", "id")
    return 200, redacted(stored)


async def compare_secret(sandbox: RunningSandbox, request: Request) -> Result:
    """Return whether a webhook has this secret, or a repository this authentication."""
    values, platform = checked(_Secret, await _body(request)), sandbox.platform
    if values.repository_id is not None:
        matches = has_authentication(platform, values.repository_id, cast("JSON", values.authentication))
    else:
        matches = has_secret(platform, values.webhook_id or "", values.secret)
    return 200, {"matches": matches}


async def make_delivery(sandbox: RunningSandbox, request: Request) -> Result:
    """Return a delivery signed with the secret of a webhook, and post nothing."""
    event = checked(_Event, await _body(request))
    delivery = sandbox.delivery(event.webhook_id, event.event_type, cast("JSONObject", event.content))
    return 201, delivery_values(delivery)


async def add_token(sandbox: RunningSandbox, request: Request) -> Result:
    """Register a token; an omitted field restricts nothing."""
    rights = checked(TokenRights, await _body(request))
    sandbox.add_token(rights)
    return 201, msgspec.to_builtins(rights, order="deterministic")


async def set_rate(sandbox: RunningSandbox, request: Request) -> Result:
    """Set the rate limit, null for none, and restart the count."""
    body = await _body(request)
    sandbox.set_rate(None if body is None else checked(ServiceRateLimit, body))
    return 200, rate_values(sandbox.rate)


async def set_latency(sandbox: RunningSandbox, request: Request) -> Result:
    """Set the delay of every response in seconds."""
    sandbox.latency = checked(Latency, await _body(request)).latency
    return 200, {"latency": sandbox.latency}


async def advance(sandbox: RunningSandbox, request: Request) -> Result:
    """Put the clock of the service forward, and return the sum of all advances."""
    sandbox.clock.advance(checked(Advance, await _body(request)).seconds)
    return 200, {"advanced": sandbox.clock.advanced}


async def add_route(sandbox: RunningSandbox, request: Request) -> Result:
    """Set the response of a route that the service does not have."""
    route = checked(OtherRoute, await _body(request))
    sandbox.add_route(route)
    return 201, msgspec.to_builtins(route)


async def list_requests(sandbox: RunningSandbox, request: Request) -> Result:
    """Return the records that match the filters of the query."""
    filters = checked(_Filters, {**request.query_params})
    if filters.operation is not None:
        check_choice("operation", filters.operation, [*(operation.name for operation in OPERATIONS), "none"])
    found = [record for record in sandbox.recorder.records if _matches(record, filters)]
    return 200, {"requests": [msgspec.to_builtins(record) for record in found], "total": len(found)}


def _matches(record: RecordedRequest, filters: _Filters) -> bool:
    has_status = filters.status in (None, str(record.status or "none"))
    return has_status and filters.operation in (None, record.operation or "none")


async def clear_requests(sandbox: RunningSandbox, _: Request) -> Result:
    """Empty the journal."""
    sandbox.recorder.records.clear()
    return _NO_CONTENT, None


async def list_faults(sandbox: RunningSandbox, _: Request) -> Result:
    """Return the pending faults, and the faults that have never fired."""
    return 200, {
        "faults": [fault_values(fault) for fault in sandbox.faults()],
        "unused": [fault_values(fault) for fault in sandbox.unused_faults()],
    }


async def add_fault(sandbox: RunningSandbox, request: Request) -> Result:
    """Add a fault; `refuse` begins once this request has its response."""
    body = await _body(request)
    fault = fault_of(body) if isinstance(body, dict) else checked(Fault, body)
    if fault.name != REFUSE:
        sandbox.add_fault(fault)
        return 201, fault_values(fault)

    async def add_later() -> None:
        sandbox.add_fault(fault)

    return _json_response(fault_values(fault), 201, background=BackgroundTask(add_later))


async def clear_faults(sandbox: RunningSandbox, _: Request) -> Result:
    """Remove all faults."""
    sandbox.clear_faults()
    return _NO_CONTENT, None


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", ROOT, show_overview),
    ("GET", f"{ROOT}/requests", list_requests),
    ("DELETE", f"{ROOT}/requests", clear_requests),
    ("POST", f"{ROOT}/reset", reset),
    ("GET", ROOT + "/stored/{kind}/{id:path}", show_stored),
    ("POST", f"{ROOT}/secrets", compare_secret),
    ("POST", f"{ROOT}/deliveries", make_delivery),
    ("POST", f"{ROOT}/tokens", add_token),
    ("PUT", f"{ROOT}/rate", set_rate),
    ("PUT", f"{ROOT}/latency", set_latency),
    ("POST", f"{ROOT}/advance", advance),
    ("POST", f"{ROOT}/responses", add_route),
    ("GET", f"{ROOT}/faults", list_faults),
    ("POST", f"{ROOT}/faults", add_fault),
    ("DELETE", f"{ROOT}/faults", clear_faults),
)


def application(sandbox: RunningSandbox) -> ASGIApp:
    """Return the ASGI application: the control interface, and the service for every other path."""
    service = ServiceEndpoint(sandbox)
    routes = [
        Route(path, functools.partial(_handle, sandbox, handler), methods=[method]) for method, path, handler in ROUTES
    ]
    control = Starlette(routes=routes, exception_handlers={HTTPException: _http_error, ClientDisconnect: _http_error})
    control.router.redirect_slashes = False

    async def by_path(scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        is_control = f"{path}/".startswith(f"{ROOT}/")
        await (control if is_control else service)(scope, receive, send)

    return with_host_check(by_path, sandbox.settings)


async def _handle(sandbox: RunningSandbox, handler: Handler, request: Request) -> Response:
    """Reject pages of other origins, call the handler, and return its errors as JSON."""
    if request.method not in ("GET", "HEAD") and _is_foreign(request):
        return _error_response(403, "ForeignOrigin", FOREIGN_ORIGIN, "Origin")
    try:
        result = await handler(sandbox, request)
    except FieldError as error:
        return _error_response(422, "InvalidControlRequest", str(error), error.field)
    if isinstance(result, Response):
        return result
    status, value = result
    return Response(status_code=status) if status == _NO_CONTENT else _json_response(value, status)


def _is_foreign(request: Request) -> bool:
    """Return whether a page of another origin sent the request; browsers send such a POST without a preflight."""
    origin = request.headers.get("origin")
    host = request.headers.get("host")
    return origin not in (None, f"http://{host}", f"https://{host}")


async def _http_error(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # the client has closed the connection
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status != 404:
        message = "The control interface does not support this method here."
        return _error_response(status, "NotSupported", message, None)
    known = ", ".join(dict.fromkeys(path for _, path, _ in ROUTES))
    message = f"The control interface has no {request.url.path[:100]}; it has {known}."
    return _error_response(404, "NotFound", message, None)
