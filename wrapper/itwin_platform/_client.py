"""The client: where its parts are put together."""

import ipaddress
import math
import os
import re
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

import httpx

from ._attempts.auth import TokenAuth, TokenProvider
from ._attempts.events import BackoffEvent
from ._attempts.gate import RequestGate
from ._attempts.policy import BackoffPolicy
from ._attempts.transport import MAX_RESPONSE_BYTES, BackoffTransport
from ._errors import UsageError
from ._operations.group import Connection
from ._transports.given_client import ClientTransport
from ._transports.platform import PlatformHTTPClient, PlatformSender
from ._transports.request import Service
from ._transports.slots import SlotTransport

if TYPE_CHECKING:
    from ._api import AuthenticatedClient
    from ._operations.detectors import Detectors
    from ._operations.itwins import ITwins
    from ._operations.repositories import Repositories
    from ._operations.scenes import Scenes
    from ._operations.webhooks import Webhooks

#: The largest request body in bytes, by method and route: 4.5 MiB for create scene. Source: sections 4.5 and 8.
BODY_LIMITS = {("POST", "/scenes/"): 4_718_592}

_VENDOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class PlatformClient:
    """The asyncio client of an iTwin platform service.

    Nothing is sent until an operation is awaited. Use it in `async with`, or await `aclose()`; one client serves any
    number of tasks of its event loop.

    Args:
        base_url: the service's address, whose path is kept; else the environment's ITWIN_PLATFORM_BASE_URL.
        vendor: the word in `application/vnd.<vendor>.itwin-platform.v1+json`; else ITWIN_PLATFORM_VENDOR.
        token: a text, an AccessToken, or a function, plain or async, that returns one; else ITWIN_PLATFORM_TOKEN.
        backoff: how often and how long requests are repeated.
        timeout: of one attempt, in seconds, or by its parts.
        check_requests: False sends what the documented rules forbid, for when the preview has changed them; an id that
            would leave its place in the path is refused all the same.
        max_response_bytes: decoded bytes of an answer over which it is refused.
        transport: the innermost transport: a proxy, an ASGI app, a mock. It is closed with the client. What it repeats
            by itself is not counted: let it send each request once.
        http_client: an `httpx.AsyncClient` to send through instead. It is neither changed nor closed.
        gate: shared by several clients of one address and credential.
        on_event: is called with each attempt that ended and each cooldown that began, for metrics; it must not wait.
        allow_insecure: True sends the token over plain http to a host that is not loopback.

    Raises:
        UsageError: an argument is missing or unusable.
        TokenError: the token is a text that cannot be sent.

    Source: sections 1, 5 and 9.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        vendor: str | None = None,
        token: TokenProvider | None = None,
        backoff: BackoffPolicy | None = None,
        timeout: float | httpx.Timeout = 30.0,
        check_requests: bool = True,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
        gate: RequestGate | None = None,
        on_event: Callable[[BackoffEvent], None] | None = None,
        allow_insecure: bool = False,
    ) -> None:
        url = _address(_given("base_url", base_url, "ITWIN_PLATFORM_BASE_URL"), allow_insecure=allow_insecure)
        word = _given("vendor", vendor, "ITWIN_PLATFORM_VENDOR")
        if not _VENDOR.fullmatch(word):
            raise UsageError("vendor must be one word of letters, digits, '-' and '_': it becomes a part of Accept")
        if transport is not None and http_client is not None:
            raise UsageError("transport and http_client exclude each other: an http_client has a transport of its own")
        if max_response_bytes < 1:
            raise UsageError("max_response_bytes must be at least 1")
        if not isinstance(timeout, httpx.Timeout) and not (isinstance(timeout, int | float) and 0 < timeout < math.inf):
            raise UsageError("timeout must be a number of seconds above 0, or an httpx.Timeout")
        policy = backoff or BackoffPolicy()
        self._auth = TokenAuth(token if token is not None else _given("token", None, "ITWIN_PLATFORM_TOKEN"))
        del token  # tools that report errors show what frames hold
        self._sender = PlatformSender(
            transport=BackoffTransport(
                _innermost(transport, http_client, url=url),
                policy=policy,
                gate=gate,
                auth=self._auth,
                max_response_bytes=max_response_bytes,
                on_event=on_event,
            ),
            service=Service(
                base_url=url,
                vendor=word,
                timeout=httpx.Timeout(timeout),
                body_limits=BODY_LIMITS if check_requests else {},
            ),
        )
        self._name = f"PlatformClient(base_url={str(url)!r}, vendor={word!r})"
        self._connection = Connection(
            send=self._sender.send, address=self._sender.service.address, check_requests=check_requests
        )

    # Each group is imported when it is first used: its models cost about a millisecond each.

    @cached_property
    def itwins(self) -> "ITwins":
        """The operations on iTwins. Source: sections 4.3 and 4.4."""
        from ._operations.itwins import ITwins

        return ITwins(self._connection)

    @cached_property
    def repositories(self) -> "Repositories":
        """The operations on repositories, Technical Preview. Source: sections 4.1 and 4.2."""
        from ._operations.repositories import Repositories

        return Repositories(self._connection)

    @cached_property
    def scenes(self) -> "Scenes":
        """The operations on scenes, Technical Preview. Source: sections 4.5 and 4.6."""
        from ._operations.scenes import Scenes

        return Scenes(self._connection)

    @cached_property
    def detectors(self) -> "Detectors":
        """The operation on detectors, Technical Preview. Source: section 4.7."""
        from ._operations.detectors import Detectors

        return Detectors(self._connection)

    @cached_property
    def webhooks(self) -> "Webhooks":
        """The operation on webhooks. Source: section 4.8."""
        from ._operations.webhooks import Webhooks

        return Webhooks(self._connection)

    @cached_property
    def generated(self) -> "AuthenticatedClient":
        """The generated client, for generated functions without a wrapper: `await get_it.asyncio(client=...)`.

        Token, Accept, backoff, typed errors and decoding apply to them as they do here, but not to the copies that its
        `with_headers`, `with_cookies` and `with_timeout` make.
        """
        from ._api import AuthenticatedClient

        client = AuthenticatedClient(base_url=self._sender.service.address, token="")
        client.set_async_httpx_client(PlatformHTTPClient(self._sender))
        return client

    def __repr__(self) -> str:
        return self._name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End waiting calls, the refresh of a token, and the connections; a given `http_client` stays open."""
        await self._sender.transport.aclose()
        await self._auth.aclose()


def _given(name: str, value: str | None, variable: str) -> str:
    found = value if value is not None else os.environ.get(variable)
    if not found:
        raise UsageError(f"{name} is missing: give {name}=... or set the environment variable {variable}")
    if not isinstance(found, str):
        raise UsageError(f"{name} must be a text, not {type(found).__name__}")
    return found


def _innermost(
    transport: httpx.AsyncBaseTransport | None,
    http_client: httpx.AsyncClient | None,
    *,
    url: httpx.URL,
) -> httpx.AsyncBaseTransport:
    if transport is not None:
        return transport
    if http_client is not None:
        return ClientTransport(http_client)
    # No request leaves the address: where that is plain http, certificates need not be read, which takes 20 ms.
    return SlotTransport(verify=url.scheme == "https")


def _address(text: str, *, allow_insecure: bool) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise UsageError(f"base_url is not an address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError("base_url must be an address that begins with https:// or http:// and names a host")
    if url.userinfo or "?" in text or "#" in text:
        raise UsageError("base_url must have no user, query or fragment: the token is given as token=...")
    if url.scheme == "http" and not allow_insecure and not _is_loopback(url.host):
        raise UsageError(
            f"base_url is plain http to {url.host}: the token could be read on the way. Use https, or say "
            "allow_insecure=True"
        )
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
