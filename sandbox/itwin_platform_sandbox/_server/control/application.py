"""The routes of the control interface, who may use them, and the service behind everything else."""

import functools
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..._service.fields import FieldError
from . import faults, journal, limits, stored_data, tokens
from .json_messages import ROOT, Handler, error_response, invalid

if TYPE_CHECKING:
    from ..running import RunningSandbox

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", faults.show_page),
    ("GET", ROOT, stored_data.show_overview),
    ("GET", f"{ROOT}/requests", journal.list_requests),
    ("DELETE", f"{ROOT}/requests", journal.clear_requests),
    ("POST", f"{ROOT}/reset", stored_data.reset),
    ("GET", f"{ROOT}/snapshots", stored_data.list_snapshots),
    ("POST", f"{ROOT}/snapshots", stored_data.take_snapshot),
    ("POST", f"{ROOT}/restore", stored_data.restore),
    ("GET", f"{ROOT}/tokens", tokens.list_tokens),
    ("POST", f"{ROOT}/tokens", tokens.add_token),
    ("DELETE", ROOT + "/tokens/{token:path}", tokens.remove_token),
    ("GET", f"{ROOT}/rate", limits.show_rate),
    ("PUT", f"{ROOT}/rate", limits.set_rate),
    ("GET", f"{ROOT}/latency", limits.show_latency),
    ("PUT", f"{ROOT}/latency", limits.set_latency),
    ("GET", f"{ROOT}/faults", faults.list_faults),
    ("POST", f"{ROOT}/faults", faults.add_fault),
    ("DELETE", f"{ROOT}/faults", faults.clear_faults),
    ("POST", f"{ROOT}/faults/clear", faults.clear_faults),
)


def application(service: ASGIApp, sandbox: "RunningSandbox") -> Starlette:
    """Return the ASGI application: the page, the control interface, and the service for every other path."""
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
    return application


async def _handle(sandbox: "RunningSandbox", handler: Handler, request: Request) -> Response:
    """Call the handler; its errors become JSON, and pages of origins that are not allowed are rejected."""
    if request.method not in ("GET", "HEAD") and _is_foreign(sandbox, request):
        return error_response(403, "ForeignOrigin", "A page of this origin may not control the sandbox.", "Origin")
    try:
        return await handler(sandbox, request)
    except FieldError as error:
        return invalid(error)


def _is_foreign(sandbox: "RunningSandbox", request: Request) -> bool:
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
