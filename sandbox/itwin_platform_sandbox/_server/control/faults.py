"""`/sandbox/faults`: the pending faults and the catalogue; for the page at `/`, the form that adds one."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ..._faults.catalogue import FAULTS
from ..._faults.notation import fault_from_values, fault_values
from ..._service.fields import FieldError
from ..._service.json_values import JSON, JSONObject
from ..._service.operation_table import OPERATIONS
from .json_messages import as_object, body_bytes, json_response, parse_json

if TYPE_CHECKING:
    from ..._faults.plan import Fault
    from ..running import RunningSandbox

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


async def show_page(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return the page: stored data, latest requests, and the form for faults."""
    return _page(sandbox.page())


async def list_faults(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return the pending faults, those that never fired, and the catalogue."""
    pending: list[JSON] = [fault_values(fault) for fault in sandbox.faults()]
    unused: list[JSON] = [fault_values(fault) for fault in sandbox.unused_faults()]
    catalogue: JSONObject = {name: kind.does for name, kind in FAULTS.items()}
    operations: list[JSON] = [operation.name for operation in OPERATIONS]
    return json_response({"faults": pending, "unused": unused, "kinds": catalogue, "operations": operations})


async def add_fault(sandbox: "RunningSandbox", request: Request) -> Response:
    """Add a fault from JSON or a form; a browser is sent back to the page."""
    body = await body_bytes(request)
    values = _form(body) if _is_form(request, body) else as_object(parse_json(body))
    if not _is_browser(request):
        fault = fault_from_values(values)
        return json_response(fault_values(fault), 201, background=_add(sandbox, fault))
    try:
        fault = fault_from_values(values)
    except FieldError as error:
        typed = {name: str(value) for name, value in values.items()}
        return _page(sandbox.page(values=typed, error=error), 422)
    background = _add(sandbox, fault)
    if background is None:
        return RedirectResponse("/", 303)
    text = f"The sandbox refuses connections for {fault.seconds} s. Then go back and reload the page."
    return HTMLResponse(f"<!doctype html><title>refuse</title><p>{text}", background=background)


async def clear_faults(sandbox: "RunningSandbox", request: Request) -> Response:
    """Remove all faults; a form is sent back to the page."""
    sandbox.clear_faults()
    return RedirectResponse("/", 303) if request.method == "POST" else Response(status_code=204)


def _add(sandbox: "RunningSandbox", fault: "Fault") -> BackgroundTask | None:
    """Add the fault; return the task that adds `refuse` once its own request has its response."""
    if fault.name != "refuse":
        sandbox.add_fault(fault)
        return None

    async def add_later() -> None:
        sandbox.add_fault(fault)

    return BackgroundTask(add_later)


def _form(body: bytes) -> JSONObject:
    return {**dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))}


def _is_form(request: Request, body: bytes) -> bool:
    # `curl -d '{...}'` sends JSON with the Content-Type of a form, so the body counts too.
    is_named_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    return is_named_form and b"=" in body and not body.lstrip().startswith((b"{", b"["))


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _page(html: str, status: int = 200) -> Response:
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers=PAGE_HEADERS)
