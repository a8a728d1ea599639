"""Who may use the sandbox: a check of Host against DNS rebinding, and CORS for pages of allowed origins."""

import functools
import ipaddress
from collections.abc import Iterable, Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .settings import ANY, CONTROL_PATH, Settings

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# The headers that a page may read. Source: sections 4.3 and 7, and observed headers.
EXPOSED_HEADERS = ("retry-after", "x-max-return", "x-correlation-id", "date", "tier", "x-itwinplatform-media-type")


def _with_host_check(app: ASGIApp, allowed: Iterable[str]) -> ASGIApp:
    """Return the application for loopback names, addresses and the allowed names as Host; others get 421.

    A page that reaches a loopback address by DNS rebinding sends its own name as Host. An address cannot be rebound.
    """
    names = frozenset(name.lower() for name in allowed)

    @functools.lru_cache(maxsize=64)
    def allows(host: bytes) -> bool:
        name = host_name(host.decode("latin-1"))
        if ANY in names or name in names or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        host = next((value for name, value in scope["headers"] if name == b"host"), None)
        if host is None or allows(host):
            await app(scope, receive, send)
            return
        message = "This Host is not allowed. To allow it, start the sandbox with --allow-host."
        error = {"code": "HostNotAllowed", "message": message, "target": "Host", "details": []}
        await JSONResponse({"error": error}, 421)(scope, receive, send)

    return check


def host_name(host: str) -> str:
    """Return the name in a Host header, in lower case and without the port."""
    name = host.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]


def guarded(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return the application behind the check of Host and, with origins, CORS.

    `*` opens the paths of the service to every page. The control interface is open to named origins only: otherwise any
    page in the browser of a developer could read and control the sandbox.
    """
    public = settings.public_url.partition("://")[2].partition("/")[0] if settings.public_url else ""
    allowed_hosts = [*settings.allow_hosts, settings.host, *([host_name(public)] if public else [])]
    if not settings.cors:
        return _with_host_check(app, allowed_hosts)
    of_service = _with_cors(app, settings.cors)
    of_control = _with_cors(app, [origin for origin in settings.cors if origin != ANY])

    async def by_path(scope: Scope, receive: Receive, send: Send) -> None:
        is_control = f"{scope['path']}/".startswith(f"{CONTROL_PATH}/")
        await (of_control if is_control else of_service)(scope, receive, send)

    return _with_host_check(by_path, allowed_hosts)


def _with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=METHODS, allow_headers=[ANY], expose_headers=EXPOSED_HEADERS
    )
