"""`/sandbox/tokens`: the registered tokens and the rights of their callers."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ..._service.credentials import ALL_PERMISSIONS, ALL_SCOPES
from ..._service.fields import read_boolean, read_fields, read_number, read_string, read_strings
from ..overview import token_values
from .json_messages import error_response, json_body, json_response

if TYPE_CHECKING:
    from ..running import RunningSandbox

FIELDS = (
    "token",
    "organization_administrator",
    "service_application",
    "permissions",
    "scopes",
    "member_of",
    "expires_in",
)


async def list_tokens(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return the registered tokens and the rights of their callers."""
    now = sandbox.clock()
    registered = sandbox.tokens.registered().items()
    return json_response({"tokens": [token_values(token, caller, now) for token, caller in registered]})


async def add_token(sandbox: "RunningSandbox", request: Request) -> Response:
    """Register a token; an omitted field restricts nothing."""
    values = read_fields(await json_body(request), FIELDS)
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
    )
    return json_response(token_values(token, sandbox.tokens.registered()[token], sandbox.clock()), 201)


async def remove_token(sandbox: "RunningSandbox", request: Request) -> Response:
    """Remove a registered token."""
    if not sandbox.tokens.remove(request.path_params["token"]):
        return error_response(404, "NotFound", "This token is not registered.", "token")
    return Response(status_code=204)
