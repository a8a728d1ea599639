"""The control interface over HTTP, and the page at `/`."""

import functools
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .._faults.catalogue import FAULTS
from .._faults.plan import Fault, fault_from_values, fault_values
from .._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from .._service.json_values import (
    JSON,
    FieldError,
    JSONObject,
    NotJSONError,
    check_choice,
    read_boolean,
    read_fields,
    read_integer,
    read_json,
    read_number,
    read_string,
    read_strings,
    write_json,
)
from .._service.rate_limit import RateLimit, rate_limit_of
from .._service.service import OPERATIONS
from .._service.state import KINDS, has_authentication, has_secret, stored_item
from .endpoint import Bodies, ServiceEndpoint
from .gatekeeping import guarded
from .journal import RecordedRequest, redacted
from .overview import delivery_values, overview, rate_values, record_values, token_values
from .page import View, render_page, view_of
from .running import RunningSandbox

ROOT = "/sandbox"
MOST_BODY_BYTES = 2**20
FOREIGN_ORIGIN = (
    "A page of this origin may not control the sandbox. Start the sandbox with its origin, such as "
    "--cors http://localhost:3000; --cors '*' opens the paths of the service only."
)

Handler: TypeAlias = Callable[[RunningSandbox, Request], Awaitable[Response]]


async def body_bytes(request: Request) -> bytes:
    """Return the body; `FieldError` if it is too large."""
    bodies: Bodies = request.app.state.bodies
    async with bodies.read(request.receive, MOST_BODY_BYTES) as body:
        if body is None:
            raise FieldError(None, f"the body is larger than {MOST_BODY_BYTES} bytes")
        return body


async def json_body(request: Request) -> JSON:
    """Return the body as JSON."""
    return parse_json(await body_bytes(request))


def parse_json(body: bytes) -> JSON:
    """Return the JSON value of a body; `FieldError` if it is not JSON."""
    try:
        return read_json(body)
    except NotJSONError as error:
        raise FieldError(None, f"the body is not JSON: {error}") from error


async def fields(request: Request, *, may_be_empty: bool = False) -> JSONObject:
    """Return the fields of a JSON object or of a form, and keep them for the page of a browser."""
    body = await body_bytes(request)
    # `curl -d '{...}'` sends JSON with the Content-Type of a form, so the body counts too.
    is_named_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    if is_named_form and not body.lstrip().startswith((b"{", b"[")) and b"=" in body:
        values: JSONObject = {**dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))}
    else:
        values = as_object(parse_json(body if body or not may_be_empty else b"{}"))
    request.state.fields = values
    return values


def as_object(value: JSON) -> JSONObject:
    """Return the value if it is an object."""
    if not isinstance(value, dict):
        raise FieldError(None, "the body must be a JSON object")
    return value


def json_response(value: JSON, status: int = 200, *, background: BackgroundTask | None = None) -> Response:
    """Return a value as JSON."""
    # As ASCII: a lone surrogate can be stored, and UTF-8 cannot encode it.
    return Response(write_json(value), status, media_type="application/json", background=background)


def error_response(status: int, code: str, message: str, target: str | None) -> Response:
    """Return an error as JSON."""
    return json_response({"error": {"code": code, "message": message, "target": target, "details": []}}, status)


def invalid(error: FieldError) -> Response:
    """Return the error for a wrong field."""
    return error_response(422, "InvalidControlRequest", str(error), error.field)


async def show_overview(sandbox: RunningSandbox, _: Request) -> Response:
    """Return address, token, ids and settings."""
    return json_response(overview(sandbox))


async def reset(sandbox: RunningSandbox, request: Request) -> Response:
    """Restore the state of the start."""
    sandbox.reset()
    return _after_form(request, overview(sandbox))


async def list_snapshots(sandbox: RunningSandbox, _: Request) -> Response:
    """Return the names of the snapshots."""
    return json_response({"snapshots": [*sandbox.snapshots]})


async def take_snapshot(sandbox: RunningSandbox, request: Request) -> Response:
    """Keep a copy of the stored data by name; without a name, by number."""
    values = read_fields(await fields(request, may_be_empty=True), ("name",))
    numbers = map(str, count(len(sandbox.snapshots) + 1))
    number = next(number for number in numbers if number not in sandbox.snapshots)
    name = number if _is_browser(request) and not values.get("name") else read_string(values, "name", number)
    sandbox.keep_snapshot(name)
    return _after_form(request, {"name": name}, 201)


async def restore(sandbox: RunningSandbox, request: Request) -> Response:
    """Store the data of a snapshot."""
    values = read_fields(await fields(request), ("name",))
    name = read_string(values, "name")
    if name not in sandbox.snapshots:
        known = ", ".join(sandbox.snapshots) or "none"
        raise FieldError("name", f"no snapshot has this name; the snapshots are: {known}")
    sandbox.restore(sandbox.snapshots[name])
    return _after_form(request, {"name": name})


TOKEN_FIELDS = (
    "token",
    "organization_administrator",
    "service_application",
    "permissions",
    "scopes",
    "member_of",
    "expires_in",
    "organization",
)


async def show_stored(sandbox: RunningSandbox, request: Request) -> Response:
    """Return one stored item without its secrets."""
    kind = check_choice("kind", request.path_params["kind"], KINDS)
    stored = stored_item(sandbox.seeded.platform, kind, request.path_params["id"])
    if stored is None:
        return error_response(404, "NotFound", f"No {kind} with this id is stored.", "id")
    return json_response(redacted(stored))


async def compare_secret(sandbox: RunningSandbox, request: Request) -> Response:
    """Say whether a webhook has this secret, or a repository this authentication."""
    values = read_fields(await fields(request), ("webhook_id", "secret", "repository_id", "authentication"))
    platform = sandbox.seeded.platform
    if "repository_id" in values:
        authentication = values.get("authentication")
        matches = has_authentication(platform, read_string(values, "repository_id"), authentication)
    else:
        matches = has_secret(platform, read_string(values, "webhook_id"), read_string(values, "secret"))
    return json_response({"matches": matches})


async def list_deliveries(sandbox: RunningSandbox, _: Request) -> Response:
    """Return what was posted to webhooks."""
    return json_response({"deliveries": [delivery_values(delivery) for delivery in sandbox.deliveries]})


async def make_delivery(sandbox: RunningSandbox, request: Request) -> Response:
    """Return a delivery signed with the secret of a webhook, and post nothing."""
    values = read_fields(await fields(request), ("webhook_id", "event_type", "content"))
    content = values.get("content")
    if not isinstance(content, dict):
        raise FieldError("content", "must be an object")
    delivery = sandbox.delivery(read_string(values, "webhook_id"), read_string(values, "event_type"), content)
    return json_response(delivery_values(delivery), 201)


async def list_tokens(sandbox: RunningSandbox, _: Request) -> Response:
    """Return the registered tokens and the rights of their callers."""
    now = sandbox.clock()
    registered = sandbox.tokens.registered().items()
    return json_response({"tokens": [token_values(token, caller, now) for token, caller in registered]})


async def add_token(sandbox: RunningSandbox, request: Request) -> Response:
    """Register a token; an omitted field restricts nothing."""
    values = read_fields(await json_body(request), TOKEN_FIELDS)
    expires_in = values.get("expires_in")
    token = read_string(values, "token")
    sandbox.tokens.register(
        token,
        organization_administrator=read_boolean(values, "organization_administrator", default=True),
        service_application=read_boolean(values, "service_application", default=True),
        permissions=read_strings(values, "permissions", ALL_PERMISSIONS),
        scopes=read_strings(values, "scopes", ALL_SCOPES),
        member_of=None if values.get("member_of") is None else read_strings(values, "member_of", ()),
        expires_in=None if expires_in is None else read_number(values, "expires_in", 0),
        organization=read_boolean(values, "organization", default=True),
    )
    return json_response(token_values(token, sandbox.tokens.registered()[token], sandbox.clock()), 201)


async def remove_token(sandbox: RunningSandbox, request: Request) -> Response:
    """Remove a registered token."""
    if not sandbox.tokens.remove(request.path_params["token"]):
        return error_response(404, "NotFound", "This token is not registered.", "token")
    return Response(status_code=204)


RATE_FIELDS = ("rate", "requests", "per", "kind", "retry_after")


async def show_rate(sandbox: RunningSandbox, _: Request) -> Response:
    """Return the rate limit, null for none."""
    return json_response(rate_values(sandbox.rate))


async def set_rate(sandbox: RunningSandbox, request: Request) -> Response:
    """Set the rate limit and restart the count: null, `{"rate": "100/60"}`, or `requests` and `per`."""
    if request.method == "POST":
        form = read_fields(await fields(request), RATE_FIELDS)
        sandbox.set_rate(_rate(form) if form.get("rate") != "" else None)
        return _after_form(request, rate_values(sandbox.rate))
    value = await json_body(request)
    sandbox.set_rate(None if value is None else _rate(read_fields(value, RATE_FIELDS)))
    return json_response(rate_values(sandbox.rate))


def _rate(values: JSONObject) -> RateLimit:
    kind, retry_after = read_string(values, "kind", "fixed_window"), read_string(values, "retry_after", "seconds")
    if "rate" in values:
        parsed = rate_limit_of(read_string(values, "rate"))
        requests, per = parsed.requests, parsed.per
    else:
        requests, per = read_integer(values, "requests", 0, least=1), read_number(values, "per", 0)
    return RateLimit(requests, per, kind=kind, retry_after=retry_after)  # type: ignore[arg-type] # checked by RateLimit


async def show_latency(sandbox: RunningSandbox, _: Request) -> Response:
    """Return latency and jitter in seconds."""
    latency, jitter = sandbox.latency
    return json_response({"latency": latency, "jitter": jitter})


async def set_latency(sandbox: RunningSandbox, request: Request) -> Response:
    """Set latency and jitter in seconds; an omitted field becomes 0."""
    values = read_fields(await fields(request), ("latency", "jitter"))
    sandbox.set_latency(read_number(values, "latency", 0), read_number(values, "jitter", 0))
    latency, jitter = sandbox.latency
    return _after_form(request, {"latency": latency, "jitter": jitter})


FILTERS = ("operation", "method", "path", "status", "notes", "skip", "limit")
NONE = "none"


async def list_requests(sandbox: RunningSandbox, request: Request) -> Response:
    """Return the records that match the filters of the query."""
    query: JSONObject = {**request.query_params}
    read_fields(query, FILTERS)
    if "operation" in query:
        check_choice("operation", query["operation"], [*(operation.name for operation in OPERATIONS), NONE])
    if "notes" in query:
        check_choice("notes", query["notes"], ["true", "false"])
    status = read_integer(query, "status", 0) if query.get("status", NONE) != NONE else None
    skip, limit = read_integer(query, "skip", 0), read_integer(query, "limit", 1000)
    found = [record for record in sandbox.recorder.records if _matches(record, query, status)]
    shown: list[JSON] = [record_values(record) for record in found[skip : skip + limit]]
    return json_response({"requests": shown, "total": len(found)})


def _matches(record: RecordedRequest, query: JSONObject, status: int | None) -> bool:
    if "status" in query and record.status != status:
        return False
    if "notes" in query and bool(record.notes) != (query["notes"] == "true"):
        return False
    values = {"operation": record.operation or NONE, "method": record.method, "path": record.path}
    return all(query.get(name, value) == value for name, value in values.items())


async def clear_requests(sandbox: RunningSandbox, _: Request) -> Response:
    """Empty the journal."""
    sandbox.recorder.records.clear()
    return Response(status_code=204)


# The page cannot run, load or embed anything, and no page can embed it, whatever the stored data says.
PAGE_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # Not "no-referrer": with it a browser sends the form of the page with the origin "null".
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


async def show_page(sandbox: RunningSandbox, request: Request) -> Response:
    """Return the page: latest requests, stored data, and forms."""
    return _page(render_page(sandbox, view_of(request.query_params)))


async def list_faults(sandbox: RunningSandbox, _: Request) -> Response:
    """Return the pending faults, those that never fired, and the catalogue."""
    pending: list[JSON] = [fault_values(fault) for fault in sandbox.faults()]
    unused: list[JSON] = [fault_values(fault) for fault in sandbox.unused_faults()]
    catalogue: JSONObject = {name: kind.does for name, kind in FAULTS.items()}
    operations: list[JSON] = [operation.name for operation in OPERATIONS]
    return json_response({"faults": pending, "unused": unused, "kinds": catalogue, "operations": operations})


async def add_fault(sandbox: RunningSandbox, request: Request) -> Response:
    """Add a fault from JSON or a form; a browser is sent back to the page."""
    fault = fault_from_values(await fields(request))
    background = _add_fault(sandbox, fault)
    if not _is_browser(request):
        return json_response(fault_values(fault), 201, background=background)
    if background is None:
        return RedirectResponse("/", 303)
    text = f"The sandbox refuses connections for {fault.seconds} s. Then go back and reload the page."
    return HTMLResponse(f"<!doctype html><title>refuse</title><p>{text}", background=background)


async def clear_faults(sandbox: RunningSandbox, request: Request) -> Response:
    """Remove all faults; a form is sent back to the page."""
    sandbox.clear_faults()
    return RedirectResponse("/", 303) if request.method == "POST" else Response(status_code=204)


def _add_fault(sandbox: RunningSandbox, fault: Fault) -> BackgroundTask | None:
    """Add the fault; return the task that adds `refuse` once its own request has its response."""
    if fault.name != "refuse":
        sandbox.add_fault(fault)
        return None

    async def add_later() -> None:
        sandbox.add_fault(fault)

    return BackgroundTask(add_later)


def _after_form(request: Request, value: JSON, status: int = 200) -> Response:
    """Send a browser back to the page, and return JSON to everybody else."""
    return RedirectResponse("/", 303) if _is_browser(request) else json_response(value, status)


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _page(html: str, status: int = 200) -> Response:
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers=PAGE_HEADERS)


# The forms of the page, by the path that each is sent to.
FORMS = {
    f"{ROOT}/faults": "fault",
    f"{ROOT}/rate": "rate",
    f"{ROOT}/latency": "latency",
    f"{ROOT}/snapshots": "snapshots",
    f"{ROOT}/restore": "snapshots",
}
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", show_page),
    ("GET", ROOT, show_overview),
    ("GET", f"{ROOT}/requests", list_requests),
    ("DELETE", f"{ROOT}/requests", clear_requests),
    ("POST", f"{ROOT}/reset", reset),
    ("GET", f"{ROOT}/snapshots", list_snapshots),
    ("POST", f"{ROOT}/snapshots", take_snapshot),
    ("POST", f"{ROOT}/restore", restore),
    ("GET", ROOT + "/stored/{kind}/{id:path}", show_stored),
    ("POST", f"{ROOT}/secrets", compare_secret),
    ("GET", f"{ROOT}/deliveries", list_deliveries),
    ("POST", f"{ROOT}/deliveries", make_delivery),
    ("GET", f"{ROOT}/tokens", list_tokens),
    ("POST", f"{ROOT}/tokens", add_token),
    ("DELETE", ROOT + "/tokens/{token:path}", remove_token),
    ("GET", f"{ROOT}/rate", show_rate),
    ("PUT", f"{ROOT}/rate", set_rate),
    ("POST", f"{ROOT}/rate", set_rate),
    ("GET", f"{ROOT}/latency", show_latency),
    ("PUT", f"{ROOT}/latency", set_latency),
    ("POST", f"{ROOT}/latency", set_latency),
    ("GET", f"{ROOT}/faults", list_faults),
    ("POST", f"{ROOT}/faults", add_fault),
    ("DELETE", f"{ROOT}/faults", clear_faults),
    ("POST", f"{ROOT}/faults/clear", clear_faults),
)


def application(sandbox: RunningSandbox) -> ASGIApp:
    """Return the ASGI application: the page, the control interface, and the service for every other path."""
    bodies = Bodies()
    service = ServiceEndpoint(sandbox, bodies)
    routes = [
        Route(path, functools.partial(_handle, sandbox, handler), methods=[method]) for method, path, handler in ROUTES
    ]
    application = Starlette(
        routes=routes, exception_handlers={HTTPException: _http_error, ClientDisconnect: _http_error}
    )

    async def service_or_not_found(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(f"{ROOT}/"):
            await _not_found(scope["path"])(scope, receive, send)
        else:
            await service(scope, receive, send)

    # The default of the router, not a mount: a mount rejects a path with a line break in it.
    application.router.default = service_or_not_found
    application.router.redirect_slashes = False
    application.state.bodies = bodies
    return guarded(application, sandbox.settings)


async def _handle(sandbox: RunningSandbox, handler: Handler, request: Request) -> Response:
    """Call the handler; its errors become JSON, and pages of origins that are not allowed are rejected."""
    if request.method not in ("GET", "HEAD") and _is_foreign(sandbox, request):
        return error_response(403, "ForeignOrigin", FOREIGN_ORIGIN, "Origin")
    try:
        return await handler(sandbox, request)
    except FieldError as error:
        if request.method != "POST" or not _is_browser(request):
            return invalid(error)
        typed = {name: str(value) for name, value in getattr(request.state, "fields", {}).items()}
        form = FORMS.get(request.url.path, "")
        return _page(render_page(sandbox, View(form=form, values=typed, error=error)), 422)


def _is_foreign(sandbox: RunningSandbox, request: Request) -> bool:
    """Return whether a browser sends the request for a page of another origin, which needs no preflight."""
    origin = request.headers.get("origin")
    if origin is None or origin in sandbox.settings.cors:
        return False
    host = request.headers.get("host")
    return origin not in (f"http://{host}", f"https://{host}")


def _not_found(path: str) -> Response:
    known = ", ".join(dict.fromkeys(path.replace(":path", "") for _, path, _ in ROUTES if path.startswith(ROOT)))
    message = f"The control interface has no {path[:100]}; it has {known}."
    return error_response(404, "NotFound", message, None)


async def _http_error(_: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # the client has closed the connection
    status = error.status_code if isinstance(error, HTTPException) else 500
    return error_response(status, "NotSupported", "The control interface does not support this method here.", None)
