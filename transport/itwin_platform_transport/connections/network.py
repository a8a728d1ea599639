"""What makes single attempts: the default transport with its ways to the network, or what the caller passed.

The default transport has three ways, and takes the shortest one that everybody who looks can see:

- By the engine, which is the fastest. Nobody watches, and no proxy applies.
- Through the functions of httpx, over the same connections, while somebody has replaced one of them: tracers and mocks
  do. `httpx.AsyncClient.send` is one, `httpx.AsyncHTTPTransport.handle_async_request` the other.
- Through httpx's own transport and connections, where a proxy of the environment applies, and while somebody has
  replaced a function of httpcore.
"""

import ssl
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import httpx

from ..errors import UsageError
from .engine import Pool, head_of
from .environment import environment_proxies, proxy_for
from .given_client import ClientTransport
from .messages import NO_RESPONSE, THROUGH_PROXY, Request, Response, SettingError, send_through


class EngineTransport(httpx.AsyncHTTPTransport):
    """Sends through httpx's own class, so that tools that watch it see every request.

    Args:
        ssl_context: the certificates to trust and to show; without it, those that httpx takes by default.
        trust_env: whether the environment names proxies, and certificates where no context is given.
    """

    def __init__(self, ssl_context: ssl.SSLContext | None = None, *, trust_env: bool = True) -> None:
        # Without the constructor of httpx, which reads certificates at once, and makes the pool that this one replaces:
        # httpx has no public way to hand one in.
        self._pool: Any = Pool(ssl_context, trust_env=trust_env)
        self._proxies: Mapping[str, str] = environment_proxies() if trust_env else {}
        self._of_httpx: dict[object, httpx.AsyncHTTPTransport] = {}

    def __repr__(self) -> str:
        return f"EngineTransport({self._pool!r})"

    @property
    def cancels_cleanly(self) -> bool:
        """Whether what is sent and read ends where a task is cancelled: httpx's connections need protection."""
        return not self._proxies and not _is_watched_below()

    async def send(self, request: Request) -> Response:
        """Send one attempt, and return when the head of its response has come.

        Raises:
            httpx.TransportError: as httpx's own transport raises it.
        """
        if self._proxies or _is_watched():
            return await self._send_by_httpx(request)
        url, content = request.url, request.content
        head = head_of(request.method.encode(), url.raw_path, request.raw_headers, content)
        pool: Pool = self._pool
        return await pool.send((url.raw_scheme, url.raw_host, url.port), head, content, request.extensions)

    async def _send_by_httpx(self, request: Request) -> Response:
        proxy = proxy_for(request.url, self._proxies)
        transport: httpx.AsyncBaseTransport = self
        if proxy is not None or _is_watched_below():
            transport = await self._through(proxy)
        if _is_replaced(httpx.AsyncClient.send, "httpx"):
            client = httpx.AsyncClient(transport=transport, trust_env=False)
            client.headers.clear()
            transport = ClientTransport(client)
        try:
            return await send_through(transport, request)
        except NO_RESPONSE as error:
            if proxy is not None:
                error.add_note(f"{THROUGH_PROXY}{proxy.url}")
            raise

    async def _through(self, proxy: httpx.Proxy | None) -> httpx.AsyncHTTPTransport:
        from .connection import KEEPALIVE

        key = None if proxy is None else (proxy.url, proxy.auth)
        if key not in self._of_httpx:
            context = await self._pool.certificates()
            if proxy is not None and proxy.url.scheme == "https":
                proxy.ssl_context = context
            # The gate limits their number.
            limits = httpx.Limits(keepalive_expiry=KEEPALIVE)
            try:
                made = httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=proxy)
            except ImportError:
                raise SettingError("the environment names a SOCKS proxy, which needs the package socksio") from None
            self._of_httpx.setdefault(key, made)
        return self._of_httpx[key]

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await super().aclose()
        for transport in self._of_httpx.values():
            await transport.aclose()


def _is_watched() -> bool:
    return (
        _is_replaced(httpx.AsyncHTTPTransport.handle_async_request, "httpx")
        or _is_replaced(httpx.AsyncClient.send, "httpx")
        or _is_watched_below()
    )


def _is_watched_below() -> bool:
    # httpx imports it with its first own transport; whoever replaces a function of it has imported it.
    httpcore = sys.modules.get("httpcore")
    return httpcore is not None and (
        _is_replaced(httpcore.AsyncConnectionPool.handle_async_request, "httpcore")
        or _is_replaced(httpcore.AsyncHTTPConnection.handle_async_request, "httpcore")
    )


def _is_replaced(method: object, package: str) -> bool:
    # What takes its place is defined elsewhere, or is no function.
    return type(method) is not FunctionType or not method.__globals__.get("__name__", "").startswith(f"{package}.")


def innermost(
    transport: httpx.AsyncBaseTransport | None,
    http_client: httpx.AsyncClient | None,
    ssl_context: ssl.SSLContext | None,
    *,
    trust_env: bool,
) -> httpx.AsyncBaseTransport:
    """Return what makes single attempts: what the caller passed, or the default.

    Raises:
        UsageError: the client is one of another library, or two of them exclude each other.
    """
    if transport is not None and http_client is not None:
        raise UsageError(
            "transport and http_client exclude each other: an http_client has its own transport", argument="transport"
        )
    if ssl_context is not None and not isinstance(ssl_context, ssl.SSLContext):
        raise UsageError(
            "ssl_context must be an ssl.SSLContext, such as ssl.create_default_context() returns",
            argument="ssl_context",
        )
    if not isinstance(trust_env, bool):
        raise UsageError("trust_env must be True or False", argument="trust_env")
    is_own = transport is None and http_client is None
    for name, is_given in (("ssl_context", ssl_context is not None), ("trust_env", not trust_env)):
        if is_given and not is_own:
            raise UsageError(
                f"{name} applies to the client's own connections: pass it to the transport or http_client instead",
                argument=name,
            )
    if http_client is not None:
        return ClientTransport(http_client)
    return EngineTransport(ssl_context, trust_env=trust_env) if transport is None else transport
