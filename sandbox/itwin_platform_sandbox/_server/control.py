"""The control endpoint and the page: switches for faults while the sandbox runs, beside the service and not of it.

`GET /sandbox/faults` lists the faults that are to come, `POST` adds one (JSON, or the fields of a form), `DELETE`
removes all of them. `GET /` is the page.
"""

from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .._faults.notation import fault_from_values, fault_values
from .._faults.plan import FAULTS, Fault
from .._service.json_values import JSON, JSONObject, NotJSONError, read_json

FAULTS_PATH = "/sandbox/faults"
CLEAR_PATH = "/sandbox/faults/clear"
# Nothing on the page may run or load, whatever the stored data says.
PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class Controls(Protocol):
    """What can be switched and shown."""

    def faults(self) -> tuple[Fault, ...]:
        """The faults that are to come."""
        ...

    def add_fault(self, fault: Fault) -> None:
        """Let a fault happen."""
        ...

    def clear_faults(self) -> None:
        """Let no more faults happen."""
        ...

    def page(self) -> str:
        """The page as HTML."""
        ...


class ControlEndpoint:
    """Reads and sets faults over HTTP."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls

    async def show_page(self, _: Request) -> Response:
        """Show what is stored, what was asked, and the switches."""
        # A lone surrogate can be stored, but not be written as UTF-8.
        return HTMLResponse(self._controls.page().encode("utf-8", "replace"), headers=PAGE_HEADERS)

    async def list_faults(self, _: Request) -> Response:
        """List the faults that are to come, and all that there are."""
        coming = [fault_values(fault) for fault in self._controls.faults()]
        return JSONResponse({"faults": coming, "kinds": {name: kind.does for name, kind in FAULTS.items()}})

    async def add_fault(self, request: Request) -> Response:
        """Add a fault; a form is sent back to the page."""
        if _is_foreign(request):
            return _error(403, "This page of another site may not switch faults.")
        is_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        body = await request.body()
        try:
            fault = fault_from_values(_form_values(body) if is_form else _json_values(body))
        except ValueError as error:
            return _error(422, str(error))
        self._controls.add_fault(fault)
        return RedirectResponse("/", 303) if is_form else JSONResponse(fault_values(fault), 201)

    async def clear_faults(self, request: Request) -> Response:
        """Remove all faults; a form is sent back to the page."""
        if _is_foreign(request):
            return _error(403, "This page of another site may not switch faults.")
        self._controls.clear_faults()
        return RedirectResponse("/", 303) if request.method == "POST" else Response(status_code=204)


def _is_foreign(request: Request) -> bool:
    """Whether a browser sends this from a page of another site, which it does without asking anybody."""
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": {"code": "InvalidFault", "message": message, "details": []}}, status)


def _form_values(body: bytes) -> JSONObject:
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _json_values(body: bytes) -> JSONObject:
    try:
        values: JSON = read_json(body)
    except NotJSONError as error:
        raise ValueError(f"the body is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ValueError("a fault is a JSON object")  # noqa: TRY004 - it is the sender's value that is wrong
    return values


def application(service: ASGIApp, controls: Controls) -> Starlette:
    """The whole ASGI application: the page, the control endpoint, and everything else is the service."""
    control = ControlEndpoint(controls)
    application = Starlette(
        routes=[
            Route("/", control.show_page, methods=["GET"]),
            Route(FAULTS_PATH, control.list_faults, methods=["GET"]),
            Route(FAULTS_PATH, control.add_fault, methods=["POST"]),
            Route(FAULTS_PATH, control.clear_faults, methods=["DELETE"]),
            Route(CLEAR_PATH, control.clear_faults, methods=["POST"]),
        ]
    )
    # As what is asked where no route fits, not as a mount: a mount does not take a path with a line break in it.
    application.router.default = service
    application.router.redirect_slashes = False
    return application
