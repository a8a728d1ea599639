"""The client: checks its options, and makes the transport, the sender and the groups of operations."""

import logging
import os
import re
import ssl
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import httpx
from itwin_platform_api.unset import UNSET, Unset
from itwin_platform_transport import (
    MAX_RESPONSE_BYTES,
    BackoffEvent,
    BackoffPolicy,
    BackoffTransport,
    Gate,
    HTTPX2Client,
    HTTPX2Timeout,
    HTTPX2Transport,
    StateError,
    TokenProvider,
    UsageError,
    as_number,
    is_timeout,
)

from ._names import CORRELATION_ID, HEADERS, LOGGER
from ._requests.body import write_json
from ._requests.http_client import PlatformHTTPClient
from ._requests.request import Service, as_base_url, check_characters, check_header
from ._requests.sender import CallOptions, PlatformSender, ResponseInfo, as_callback

if TYPE_CHECKING:
    from itwin_platform_api.client import AuthenticatedClient

    from ._operations.detectors import Detectors
    from ._operations.itwins import ITwins
    from ._operations.repositories import Repositories
    from ._operations.scenes import Scenes
    from ._operations.webhooks import Webhooks

T = TypeVar("T")

_VENDOR = r"[A-Za-z0-9][A-Za-z0-9_-]*"
#: The arguments that an environment variable can replace.
_VARIABLES = {name: f"ITWIN_PLATFORM_{name.upper()}" for name in ("base_url", "vendor", "token")}
#: The environment variable that switches the log on.
_LOG = "ITWIN_PLATFORM_LOG"
#: The name of a header. Source: RFC 9110, section 5.1.
_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
#: The client writes these headers itself.
_RESERVED = {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
_RESERVED |= {"te", "trailer", "transfer-encoding", "upgrade"}


class _Group:
    """A descriptor that makes a group of operations when it is first read: importing its models takes milliseconds.

    Read from the class, it returns the class of the group: `unittest.mock.create_autospec` finds the operations there.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __set_name__(self, owner: type[object], name: str) -> None:
        self._name = name

    def __get__(self, client: "PlatformClient | None", owner: type[object]) -> object:
        kind = getattr(import_module(f"._operations.{self._name}", __package__), self._kind)
        if client is None:
            return kind
        group = client.__dict__[self._name] = kind(client._sender)  # noqa: SLF001  # as methods of the client
        return group


def _group(kind: str) -> Any:
    """Declare a group by the name of its class. The annotation of the attribute is its type."""
    return _Group(kind)


# Source: sections 1, 5 and 9.
class PlatformClient:
    """The asyncio client of an iTwin platform service.

    Nothing is sent until an operation is awaited. Use the client in `async with`, or await `aclose()`. One client
    serves any number of tasks of its event loop. The environment variable ITWIN_PLATFORM_LOG, `info` or `debug`, writes
    its log to stderr.

    Args:
        base_url: the address of the service, whose path is kept; default: the environment's ITWIN_PLATFORM_BASE_URL.
        vendor: the word in `application/vnd.<vendor>.itwin-platform.v1+json`; default: ITWIN_PLATFORM_VENDOR.
        token: a string, an AccessToken, or a sync or async function that returns one; default: ITWIN_PLATFORM_TOKEN.
            All tasks share the token, so make one client per tenant.
        backoff: how often and how long requests are retried.
        timeout: seconds for one attempt, or a `Timeout` of httpx or httpx2. A call of an async `token` may take as
            long.
        check_requests: False sends values that the documented rules forbid, for when the preview has changed the
            rules. Ids that would change the path are still rejected, and so is None for a parameter.
        max_response_bytes: the largest decoded response, in bytes; 64 MiB by default.
        transport: the innermost `httpx.AsyncBaseTransport`, or one of httpx2: a proxy, an ASGI app, a mock. It must
            send each request once: its own retries are not counted. It is closed with the client.
        http_client: an `httpx.AsyncClient`, or one of httpx2, to send through instead. It is neither changed nor
            closed.
        ssl_context: the certificates to trust and to show, instead of those of SSL_CERT_FILE, SSL_CERT_DIR or certifi:
            the certificates of a company, or a client certificate. It is not changed, so if it offers protocols by
            ALPN, HTTP/1.1 must be one of them.
        trust_env: False ignores the environment's proxies (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) and
            certificates (SSL_CERT_FILE, SSL_CERT_DIR). An address of this machine is always reached without a proxy.
        gate: shared by all clients of one address and credential.
        on_event: is called with each attempt that ended, each cooldown and each outage; it must not block.
        allow_insecure: True sends the token over plain http to a host that is not loopback.

    Raises:
        UsageError: an argument is missing or unusable, or ITWIN_PLATFORM_LOG has another value.
        TokenError: the token is a string that cannot be sent.

    Example:
        ```python
        async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform:
            account = await platform.itwins.get_primary_account()
        ```
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        vendor: str | None = None,
        token: TokenProvider | None = None,
        backoff: BackoffPolicy | None = None,
        timeout: float | httpx.Timeout | HTTPX2Timeout = 30.0,
        check_requests: bool = True,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        transport: httpx.AsyncBaseTransport | HTTPX2Transport | None = None,
        http_client: httpx.AsyncClient | HTTPX2Client | None = None,
        ssl_context: ssl.SSLContext | None = None,
        trust_env: bool = True,
        gate: Gate | None = None,
        on_event: Callable[[BackoffEvent], None] | None = None,
        allow_insecure: bool = False,
    ) -> None:
        _switch_log_on()
        try:
            limits = _timeout(timeout)
            address, word, token = _with_environment(base_url=base_url, vendor=vendor, token=token)
            for name, value, kind, expected in (
                ("base_url", address, str, "a str"),
                ("vendor", word, str, "a str"),
                ("backoff", backoff, BackoffPolicy | None, "a BackoffPolicy, such as BackoffPolicy(deadline=60)"),
                ("allow_insecure", allow_insecure, bool, "True or False"),
                ("check_requests", check_requests, bool, "True or False"),
            ):
                if not isinstance(value, kind):
                    raise UsageError(f"{name} must be {expected}", argument=name)
            attempts = BackoffTransport(
                transport,
                http_client=http_client,
                ssl_context=ssl_context,
                trust_env=trust_env,
                policy=backoff,
                gate=gate,
                headers=HEADERS,
                token_timeout=max((seconds for seconds in limits.values() if seconds is not None), default=None),
                token=token,
                max_response_bytes=max_response_bytes,
                on_event=as_callback("on_event", on_event),
            )
        finally:
            del token  # error trackers capture the variables of frames
        url = as_base_url(address, allow_insecure=allow_insecure)
        if not re.fullmatch(_VENDOR, word):
            rule = "vendor must be one word of letters, digits, '-' and '_': it becomes a part of Accept"
            raise UsageError(rule, argument="vendor")
        self._sender = PlatformSender(
            transport=attempts,
            service=Service(
                base_url=url, vendor=word, check_requests=check_requests, max_response_bytes=int(max_response_bytes)
            ),
            options=CallOptions(extensions={"timeout": limits}, policy=backoff or BackoffPolicy()),
        )
        self._is_view = False

    def with_options(
        self,
        *,
        timeout: float | httpx.Timeout | HTTPX2Timeout | Unset = UNSET,
        deadline: float | Unset | None = UNSET,
        queue_timeout: float | Unset | None = UNSET,
        max_attempts: int | Unset = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        correlation_id: str | Unset | None = UNSET,
        extra_query: Mapping[str, str] | Unset = UNSET,
        extra_body: Mapping[str, object] | Unset = UNSET,
        on_response: Callable[[ResponseInfo], None] | Unset | None = UNSET,
    ) -> Self:
        """Return a view of this client whose calls use other options. An omitted option keeps its value.

        A view takes microseconds to create, so create one for each call if you like. Views nest: headers and extras add
        up, and for all else the innermost value applies. The options apply to each page of a listing and, except the
        extras, to requests of `generated` that are made by hand.

        Args:
            timeout: seconds for one attempt, or a `Timeout` of httpx or httpx2.
            deadline: seconds for one request with all its attempts and delays. Queueing before the first attempt does
                not count. None for no deadline.
            queue_timeout: seconds that a request may queue before its first attempt; None for no limit.
            max_attempts: attempts in total, at least 1; a response with status 429 uses none.
            headers: headers to add to each request. The headers of an operation take precedence.
            correlation_id: sent as X-Correlation-Id with each request; None sends none.
            extra_query: query parameters to add to each request, such as one that the preview has added.
            extra_body: properties to add to each request body, in wire names. If an operation sends a parameter or a
                property of this name itself, the call raises UsageError.
            on_response: is called with each final response, of any status; it must not block. If it raises, the
                error is logged. None calls nothing.

        Returns:
            A view with the same operations. It shares connections, gate and token; closing it closes nothing.

        Raises:
            UsageError: a value is out of its range, or `headers` holds Authorization, Accept, Host or another header
                that the client writes itself.

        Example:
            ```python
            patient = platform.with_options(deadline=600, correlation_id="nightly-42")
            await patient.repositories.update(itwin_id, repository_id, display_name="Aerial images")
            ```
        """
        before = self._sender.options
        callback = before.on_response if isinstance(on_response, Unset) else as_callback("on_response", on_response)
        limits: dict[str, Any] = {"deadline": deadline, "queue_timeout": queue_timeout, "max_attempts": max_attempts}
        options = CallOptions(
            extensions=before.extensions if isinstance(timeout, Unset) else {"timeout": _timeout(timeout)},
            policy=replace(before.policy, **{name: value for name, value in limits.items() if value is not UNSET}),
            headers=_with_headers(before.headers, headers, correlation_id),
            query=_with_extra("extra_query", before.query, extra_query, str),
            body=_with_extra("extra_body", before.body, extra_body, object),
            on_response=callback,
        )
        return self._view(replace(self._sender, options=options))

    def _view(self, sender: PlatformSender) -> Self:
        """Return a copy with another sender. It has the attributes of a subclass, and makes its groups again."""
        view = object.__new__(type(self))  # a subclass may have a constructor with other arguments
        made = _made_on_use(type(self))  # type: ignore[arg-type]  # mypy takes the class of Self for not hashable
        view.__dict__.update({name: value for name, value in vars(self).items() if name not in made})
        view.__dict__.update(_sender=sender, _is_view=True)
        return view

    itwins: "ITwins" = _group("ITwins")
    """The operations on iTwins."""

    repositories: "Repositories" = _group("Repositories")
    """The operations on repositories, Technical Preview."""

    scenes: "Scenes" = _group("Scenes")
    """The operations on scenes, Technical Preview."""

    detectors: "Detectors" = _group("Detectors")
    """The operation on detectors, Technical Preview."""

    webhooks: "Webhooks" = _group("Webhooks")
    """The operation on webhooks."""

    @cached_property
    def generated(self) -> "AuthenticatedClient":
        """The generated client, for generated functions without a wrapper: `await get_it.asyncio(client=...)`.

        Such calls get the token, Accept, retries, options, typed errors and decoding of this client. The copies that
        its `with_headers`, `with_cookies` and `with_timeout` return do not: use `platform.with_options(...).generated`.
        """
        from itwin_platform_api.client import AuthenticatedClient

        client = AuthenticatedClient(base_url=self._sender.service.address, token="")
        client.set_async_httpx_client(PlatformHTTPClient(self._sender))
        return client

    def __repr__(self) -> str:
        service = self._sender.service
        view = ", with options" if self._is_view else ""
        return f"PlatformClient(base_url={str(service.base_url)!r}, vendor={service.vendor!r}{view})"

    async def __aenter__(self) -> Self:
        if self._sender.transport.is_closed:
            raise StateError("the client is closed: make another one")
        return self

    async def __aexit__(self, *error: object) -> None:
        if not self._is_view:  # a view shares everything that `aclose` of a subclass may close
            await self.aclose()

    async def aclose(self) -> None:
        """End waiting calls, a token refresh in progress, and the connections; a given `http_client` stays open.

        On a view it does nothing: close the client that the view was made from.

        Raises:
            StateError: the client made its first call in another event loop.
        """
        if not self._is_view:
            await self._sender.transport.aclose()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a PlatformClient cannot be copied or pickled: share it, or make a view with `with_options()`")

    def __del__(self) -> None:
        # If the constructor has raised, there are no attributes.
        if not getattr(self, "_is_view", True) and self._sender.transport.is_in_use:
            text = f"unclosed {self!r}: use it in `async with`, or await `aclose()`"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)


@cache
def _made_on_use(kind: type[PlatformClient]) -> frozenset[str]:
    """Return the names of the attributes that an instance makes on first use and keeps."""
    members = (member for base in kind.__mro__ for member in vars(base).items())
    return frozenset(name for name, value in members if isinstance(value, cached_property | _Group))


def _switch_log_on() -> None:
    """Write the log of both packages to stderr if ITWIN_PLATFORM_LOG is `info` or `debug`.

    Raises:
        UsageError: it has another value.
    """
    level = os.environ.get(_LOG, "").strip().upper()
    if not level:
        return
    if level not in ("INFO", "DEBUG"):
        raise UsageError(f"{_LOG} must be info or debug: set one of them, or unset it")
    LOGGER.setLevel(level)
    if all(handler.name != _LOG for handler in LOGGER.handlers):
        handler = logging.StreamHandler()
        handler.name = _LOG
        handler.setFormatter(logging.Formatter(f"%(asctime)s {logging.BASIC_FORMAT}"))
        handler.addFilter(_is_shown_nowhere_else)
        LOGGER.addHandler(handler)


def _is_shown_nowhere_else(_: logging.LogRecord) -> bool:
    """Return whether no root handler writes to stderr or stdout: such a handler shows each line already."""
    streams = [getattr(handler, "stream", None) for handler in logging.getLogger().handlers]
    return sys.stderr not in streams and sys.stdout not in streams


def _with_environment(**passed: Any) -> Iterator[Any]:
    """Return the values of settings in their order: the argument, or else the environment variable.

    Raises:
        UsageError: a setting has neither. The error names all missing settings.
    """
    values = {
        name: value if value is not None else os.environ.get(_VARIABLES[name]) or None for name, value in passed.items()
    }
    if missing := [name for name, value in values.items() if value is None]:
        del passed, values  # error trackers capture the variables of frames
        verb, variables = "are" if missing[1:] else "is", " and ".join(_VARIABLES[name] for name in missing)
        text = f"{' and '.join(missing)} {verb} missing: pass {' and '.join(f'{name}=...' for name in missing)}"
        raise UsageError(f"{text}, or set {variables} in the environment", argument=missing[0])
    return iter(values.values())


def _timeout(value: float | httpx.Timeout | HTTPX2Timeout) -> dict[str, float | None]:
    """Return the limits of one attempt in seconds, by the names that httpx gives them.

    Raises:
        UsageError: it is neither a number of seconds nor a timeout.
    """
    if is_timeout(value):
        return value.as_dict()
    seconds = as_number(value)
    if seconds is None or not 0 < seconds <= sys.float_info.max:
        rule = "timeout must be a number of seconds above 0, or an httpx.Timeout or httpx2.Timeout"
        raise UsageError(rule, argument="timeout")
    return httpx.Timeout(seconds).as_dict()


def _with_extra(name: str, present: Mapping[str, T], extra: Mapping[str, T] | Unset, kind: type[T]) -> Mapping[str, T]:
    """Return the present parameters or properties with those of the caller.

    Raises:
        UsageError: they are no mapping of strings to values of this kind, or a value cannot be sent.
    """
    if isinstance(extra, Unset):
        return present
    if not isinstance(extra, Mapping) or not all(
        isinstance(key, str) and isinstance(value, kind) for key, value in extra.items()
    ):
        values = "strings" if kind is str else "values"
        raise UsageError(f"{name} must be a mapping of names to {values}", argument=name)
    if kind is str:
        check_characters(name, *extra, *map(str, extra.values()))
    else:
        write_json(extra, name=name)
    return {**present, **extra}


def _with_headers(
    present: Mapping[str, str], headers: Mapping[str, str] | Unset, correlation_id: str | Unset | None
) -> dict[str, str]:
    """Return the present headers with those of the caller.

    Raises:
        UsageError: a name or a value cannot be sent, or the client writes the header itself.
    """
    added = {**present}
    if not isinstance(headers, Unset):
        if not isinstance(headers, Mapping):
            raise UsageError("headers must be a mapping of header names to strings", argument="headers")
        for name, value in headers.items():
            if not isinstance(name, str) or not re.fullmatch(_HEADER_NAME, name):
                raise UsageError(f"headers must contain names of HTTP headers, not {name!r}", argument="headers")
            check_header(name, value)
            lower = name.lower()
            if lower in _RESERVED:
                raise UsageError(f"headers must not contain {name}: the client writes it", argument="headers")
            added[lower] = value
    if not isinstance(correlation_id, Unset):
        added.pop(CORRELATION_ID, None)
        if correlation_id is not None:
            check_header("correlation_id", correlation_id)
            added[CORRELATION_ID] = correlation_id
    return added
