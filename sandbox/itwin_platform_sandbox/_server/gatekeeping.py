"""A check of Host against DNS rebinding."""

import functools
import ipaddress

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .settings import ANY, Settings


def with_host_check(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return the application for loopback names, addresses and the allowed names as Host; others get 421.

    A page that reaches a loopback address by DNS rebinding sends its own name as Host. An address cannot be rebound.
    """
    public = settings.public_url.partition("://")[2].partition("/")[0] if settings.public_url else ""
    allowed = [*settings.allow_hosts, settings.host, *([host_name(public)] if public else [])]
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
