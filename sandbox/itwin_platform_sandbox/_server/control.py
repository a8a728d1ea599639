"""The control interface over HTTP, with the powers of the Python interface, and the page.

An error is JSON: `{"error": {"code": ..., "message": ..., "target": <the field that is wrong>, "details": []}}`.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .._faults.catalogue import FAULTS
from .._faults.notation import fault_from_values, fault_values
from .._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from .._service.fields import (
    FieldError,
    read_boolean,
    read_fields,
    read_integer,
    read_number,
    read_string,
    read_strings,
)
from .._service.json_values import JSON, JSONObject, NotJSONError, read_json, write_json
from .._service.operation_table import OPERATIONS
from .._service.rate_limit import RateLimit, rate_limit_of
from .endpoint import read_body
from .overview import overview, rate_values, record_values, token_values

if TYPE_CHECKING:
    from .._faults.plan import Fault
    from .running import RunningSandbox

ROOT = "/sandbox"
FAULTS_PATH = f"{ROOT}/faults"
CLEAR_PATH = f"{FAULTS_PATH}/clear"
MOST_BODY_BYTES = 2**20
REQUEST_FILTERS = ("operation", "method", "path", "status", "notes", "skip", "limit")
TOKEN_FIELDS = (
    "token",
    "organization_administrator",
    "service_application",
    "permissions",
    "scopes",
    "member_of",
    "expires_in",
)
RATE_FIELDS = ("rate", "requests", "per", "kind", "retry_after")
# Nothing on the page may run, load or be framed, whatever the stored data says.
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

Handler = Callable[[Request], Awaitable[Response]]


class ControlInterface:
    """Shows and controls one sandbox over HTTP."""

    def __init__(self, sandbox: "RunningSandbox") -> None:
        self._sandbox = sandbox

    async def show_page(self, _: Request) -> Response:
        """Show the page: what is stored, what was requested, and the controls."""
        return _page(self._sandbox.page())

    async def show_overview(self, _: Request) -> Response:
        """Show address, token, ids and settings."""
        return _json(overview(self._sandbox))

    async def list_requests(self, request: Request) -> Response:
        """Show the journal, filtered."""
        query: JSONObject = {**dict(request.query_params)}
        read_fields(query, REQUEST_FILTERS)
        skip, limit = read_integer(query, "skip", 0), read_integer(query, "limit", 1000)
        status = read_integer(query, "status", 0) if query.get("status", "none") != "none" else None
        found = [
            record
            for record in self._sandbox.recorder.records
            if ("status" not in query or record.status == status)
            and query.get("operation") in (None, record.operation)
            and query.get("method") in (None, record.method)
            and query.get("path") in (None, record.path)
            and (query.get("notes") != "true" or record.notes)
        ]
        shown: list[JSON] = [record_values(record) for record in found[skip : skip + limit]]
        return _json({"requests": shown, "total": len(found)})

    async def clear_requests(self, _: Request) -> Response:
        """Empty the journal."""
        self._sandbox.recorder.records.clear()
        return Response(status_code=204)

    async def reset(self, _: Request) -> Response:
        """Go back to the start."""
        self._sandbox.reset()
        return _json(overview(self._sandbox))

    async def list_snapshots(self, _: Request) -> Response:
        """Show the names of the snapshots."""
        return _json({"snapshots": [*self._sandbox.snapshots]})

    async def take_snapshot(self, request: Request) -> Response:
        """Keep a copy of the stored data by name."""
        values = read_fields(await _json_body(request, empty={}), ("name",))
        name = read_string(values, "name", str(len(self._sandbox.snapshots) + 1))
        self._sandbox.keep_snapshot(name)
        return _json({"name": name}, 201)

    async def restore(self, request: Request) -> Response:
        """Store what a snapshot has."""
        values = read_fields(await _json_body(request), ("name",))
        name = read_string(values, "name")
        if name not in self._sandbox.snapshots:
            raise FieldError(
                "name", f"there is no such snapshot; there are {', '.join(self._sandbox.snapshots) or 'none'}"
            )
        self._sandbox.restore(self._sandbox.snapshots[name])
        return _json({"name": name})

    async def list_tokens(self, _: Request) -> Response:
        """Show the registered tokens and the rights of their callers."""
        now = self._sandbox.clock()
        registered = self._sandbox.tokens.registered().items()
        return _json({"tokens": [token_values(token, caller, now) for token, caller in registered]})

    async def add_token(self, request: Request) -> Response:
        """Register a token; what is not sent is allowed."""
        values = read_fields(await _json_body(request), TOKEN_FIELDS)
        expires_in = values.get("expires_in")
        token = read_string(values, "token")
        self._sandbox.add_token(
            token,
            organization_administrator=read_boolean(values, "organization_administrator", default=True),
            service_application=read_boolean(values, "service_application", default=True),
            permissions=read_strings(values, "permissions", ALL_PERMISSIONS),
            scopes=read_strings(values, "scopes", ALL_SCOPES),
            member_of=None if values.get("member_of") is None else read_strings(values, "member_of", ()),
            expires_in=None if expires_in is None else read_number(values, "expires_in", 0),
        )
        return _json(token_values(token, self._sandbox.tokens.registered()[token], self._sandbox.clock()), 201)

    async def remove_token(self, request: Request) -> Response:
        """Forget a registered token."""
        if not self._sandbox.tokens.remove(request.path_params["token"]):
            return _error(404, "NotFound", "This token is not registered.", "token")
        return Response(status_code=204)

    async def show_rate(self, _: Request) -> Response:
        """Show the rate limit, null for none."""
        return _json(rate_values(self._sandbox.rate))

    async def set_rate(self, request: Request) -> Response:
        """Set the rate limit: null, `{"rate": "100/60"}`, or `requests` and `per`; counting begins anew."""
        value = await _json_body(request)
        self._sandbox.set_rate(None if value is None else _rate(read_fields(value, RATE_FIELDS)))
        return _json(rate_values(self._sandbox.rate))

    async def show_latency(self, _: Request) -> Response:
        """Show latency and jitter in seconds."""
        latency, jitter = self._sandbox.latency
        return _json({"latency": latency, "jitter": jitter})

    async def set_latency(self, request: Request) -> Response:
        """Set latency and jitter in seconds; what is not sent becomes 0."""
        values = read_fields(await _json_body(request), ("latency", "jitter"))
        self._sandbox.set_latency(read_number(values, "latency", 0), read_number(values, "jitter", 0))
        return await self.show_latency(request)

    async def list_faults(self, _: Request) -> Response:
        """Show the faults that are to come, those that have never fired, and the catalogue."""
        pending: list[JSON] = [fault_values(fault) for fault in self._sandbox.faults()]
        unused: list[JSON] = [fault_values(fault) for fault in self._sandbox.unused_faults()]
        catalogue: JSONObject = {name: kind.does for name, kind in FAULTS.items()}
        operations: list[JSON] = [operation.name for operation in OPERATIONS]
        return _json({"faults": pending, "unused": unused, "kinds": catalogue, "operations": operations})

    async def add_fault(self, request: Request) -> Response:
        """Let a fault happen; a form is sent back to the page."""
        body = await _body(request)
        if not _is_form(request, body):
            fault = fault_from_values(_object(_parsed(body)))
            return _json(fault_values(fault), 201, background=self._fault_task(fault))
        values = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        try:
            fault = fault_from_values({**values})
        except FieldError as error:
            return _page(self._sandbox.page(values=values, error=error), 422)
        if fault.name == "refuse":
            text = f"For {fault.seconds} s nothing listens here. Then go back and load the page again."
            return HTMLResponse(f"<!doctype html><title>refuse</title><p>{text}", background=self._fault_task(fault))
        self._sandbox.add_fault(fault)
        return RedirectResponse("/", 303)

    async def clear_faults(self, request: Request) -> Response:
        """Let no more faults happen; a form is sent back to the page."""
        self._sandbox.clear_faults()
        return RedirectResponse("/", 303) if request.method == "POST" else Response(status_code=204)

    def _fault_task(self, fault: "Fault") -> BackgroundTask | None:
        """Add the fault, `refuse` only after the response to its own request."""
        if fault.name == "refuse":
            return BackgroundTask(self._add_later, fault)
        self._sandbox.add_fault(fault)
        return None

    async def _add_later(self, fault: "Fault") -> None:
        self._sandbox.add_fault(fault)

    def routes(self) -> list[Route]:
        """Return every route of the interface."""
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/", self.show_page),
            ("GET", ROOT, self.show_overview),
            ("GET", f"{ROOT}/requests", self.list_requests),
            ("DELETE", f"{ROOT}/requests", self.clear_requests),
            ("POST", f"{ROOT}/reset", self.reset),
            ("GET", f"{ROOT}/snapshots", self.list_snapshots),
            ("POST", f"{ROOT}/snapshots", self.take_snapshot),
            ("POST", f"{ROOT}/restore", self.restore),
            ("GET", f"{ROOT}/tokens", self.list_tokens),
            ("POST", f"{ROOT}/tokens", self.add_token),
            ("DELETE", ROOT + "/tokens/{token:path}", self.remove_token),
            ("GET", f"{ROOT}/rate", self.show_rate),
            ("PUT", f"{ROOT}/rate", self.set_rate),
            ("GET", f"{ROOT}/latency", self.show_latency),
            ("PUT", f"{ROOT}/latency", self.set_latency),
            ("GET", FAULTS_PATH, self.list_faults),
            ("POST", FAULTS_PATH, self.add_fault),
            ("DELETE", FAULTS_PATH, self.clear_faults),
            ("POST", CLEAR_PATH, self.clear_faults),
        ]
        return [Route(path, self._guarded(handler), methods=[method]) for method, path, handler in table]

    def _guarded(self, handler: Handler) -> Handler:
        """Return the handler with its errors as JSON, closed to pages of origins that are not allowed."""

        async def guarded(request: Request) -> Response:
            if request.method not in ("GET", "HEAD") and self._is_foreign(request):
                return _error(403, "ForeignOrigin", "A page of this origin may not control the sandbox.", "Origin")
            try:
                return await handler(request)
            except FieldError as error:
                return _error(422, "InvalidControlRequest", str(error), error.field)

        return guarded

    def _is_foreign(self, request: Request) -> bool:
        """Tell whether a browser sends this from a page of another origin, which it does without asking anybody."""
        origin = request.headers.get("origin")
        if origin is None or origin in self._sandbox.settings.cors:
            return False
        return urlsplit(origin).netloc != request.headers.get("host")


def _rate(values: JSONObject) -> RateLimit:
    kind, retry_after = read_string(values, "kind", "fixed_window"), read_string(values, "retry_after", "seconds")
    if "rate" in values:
        written = rate_limit_of(read_string(values, "rate"))
        requests, per = written.requests, written.per
    else:
        requests, per = read_integer(values, "requests", 0, least=1), read_number(values, "per", 0)
    return RateLimit(requests, per, kind=kind, retry_after=retry_after)  # type: ignore[arg-type] # checked by RateLimit


async def _body(request: Request) -> bytes:
    body = await read_body(request.receive, MOST_BODY_BYTES)
    if body is None:
        raise FieldError(None, f"the body is larger than {MOST_BODY_BYTES} bytes")
    return body


async def _json_body(request: Request, empty: JSON = None) -> JSON:
    body = await _body(request)
    return empty if not body and empty is not None else _parsed(body)


def _parsed(body: bytes) -> JSON:
    try:
        return read_json(body)
    except NotJSONError as error:
        raise FieldError(None, f"the body is not JSON: {error}") from error


def _object(value: JSON) -> JSONObject:
    if not isinstance(value, dict):
        raise FieldError(None, "the body must be a JSON object")
    return value


def _is_form(request: Request, body: bytes) -> bool:
    # `curl -d '{...}'` says that it sends a form.
    is_named_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    return is_named_form and not body.lstrip().startswith(b"{")


def _json(value: JSON, status: int = 200, *, background: BackgroundTask | None = None) -> Response:
    # As ASCII, because a lone surrogate can be stored and not be written as UTF-8.
    return Response(write_json(value), status, media_type="application/json", background=background)


def _error(status: int, code: str, message: str, target: str | None) -> Response:
    return _json({"error": {"code": code, "message": message, "target": target, "details": []}}, status)


def _page(html: str, status: int = 200) -> Response:
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers=PAGE_HEADERS)


async def _http_error(_: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error(status, "NotSupported", "The control interface does not support this method here.", None)


def application(service: ASGIApp, sandbox: "RunningSandbox") -> Starlette:
    """Return the whole ASGI application: the page, the control interface, and everything else is the service."""
    control = ControlInterface(sandbox)
    routes = control.routes()
    handlers = {HTTPException: _http_error, ClientDisconnect: _http_error}
    application = Starlette(routes=routes, exception_handlers=handlers)
    # As what is called where no route fits, not as a mount: a mount does not accept a path with a line break in it.
    application.router.default = service
    application.router.redirect_slashes = False
    return application
