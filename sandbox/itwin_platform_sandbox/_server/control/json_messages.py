"""Request bodies and responses that all resources of the control interface share.

An error is JSON: `{"error": {"code": ..., "message": ..., "target": <the wrong field>, "details": []}}`.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from ..._service.fields import FieldError
from ..._service.json_values import JSON, JSONObject, NotJSONError, read_json, write_json
from ..endpoint import read_body

if TYPE_CHECKING:
    from ..running import RunningSandbox

ROOT = "/sandbox"
MOST_BODY_BYTES = 2**20

Handler: TypeAlias = "Callable[[RunningSandbox, Request], Awaitable[Response]]"


async def body_bytes(request: Request) -> bytes:
    """Return the body; `FieldError` if it is too large."""
    body = await read_body(request.receive, MOST_BODY_BYTES)
    if body is None:
        raise FieldError(None, f"the body is larger than {MOST_BODY_BYTES} bytes")
    return body


async def json_body(request: Request, empty: JSON = None) -> JSON:
    """Return the body as JSON, or `empty` if there is no body and `empty` is not None."""
    body = await body_bytes(request)
    return empty if not body and empty is not None else parse_json(body)


def parse_json(body: bytes) -> JSON:
    """Return the JSON value of a body; `FieldError` if it is not JSON."""
    try:
        return read_json(body)
    except NotJSONError as error:
        raise FieldError(None, f"the body is not JSON: {error}") from error


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
