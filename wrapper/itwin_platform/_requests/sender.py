"""Sends the values of a request with the options of its call, and raises a typed error for each failure."""

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx
from itwin_platform_api.encoding import encode
from itwin_platform_api.request import RequestValues
from itwin_platform_api.unset import UNSET, Unset
from itwin_platform_transport import BackoffPolicy, BackoffTransport, CallInfo, PlatformError, Request, UsageError

from .._version import CORRELATION_ID, LOG
from .request import Service, check_characters, check_header, check_header_name, make_request, write_json
from .response import DecodedResponse, ResponseInfo

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")

#: The client writes these headers itself.
_RESERVED = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)
#: What httpx limits in an attempt.
_LIMITS = ("connect", "read", "write", "pool")
#: The longest timeout in seconds: a year. Timers overflow at longer ones.
_LONGEST = 31_536_000


class CallOptions(NamedTuple):
    """The options of all calls of one client, or of one view of it.

    A named tuple, because each view makes one, and making a frozen dataclass takes several times as long.

    Args:
        timeout: the limits of one attempt in seconds, by the names that httpx gives them.
        policy: the limits of one call.
        headers: added to each request, names in lower case.
        query: added to the query of each request.
        body: added to the body of each request.
        on_response: is called with each final response.
    """

    timeout: Mapping[str, float | None]
    policy: BackoffPolicy
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]
    on_response: Callable[[ResponseInfo], None] | None


class ErrorsOfCall:
    """Completes the errors that leave a `with` statement: they name the call by its method and the template of its path.

    Rejected arguments leave it without the frames in which they were checked: tools that report errors show what
    frames hold.
    """

    __slots__ = ("method", "route")

    def __init__(self, method: str, route: str) -> None:
        self.method = method
        self.route = route

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, PlatformError):
            error.method, error.route = self.method, self.route
        if isinstance(error, UsageError):
            error.__traceback__ = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSender:
    """Sends the values of a request and returns a success; every operation and every page takes this way.

    Args:
        transport: makes the attempts; its responses are read to their end.
        service: what all requests to the service share.
        options: the options of the calls.
    """

    transport: BackoffTransport
    service: Service
    options: CallOptions

    async def send(self, values: RequestValues) -> DecodedResponse:
        """Send a request and return its response, decoded.

        Raises:
            UsageError: the request breaks a rule that always holds.
            APIStatusError: the status of the response is 300 or above.
        """
        options = self.options
        with ErrorsOfCall(values.method, values.route):
            request = make_request(
                self.with_extras(values),
                service=self.service,
                added=options.headers,
                extensions={"timeout": options.timeout},
            )
            info = CallInfo(method=values.method, route=values.route, policy=options.policy)
            return await self.exchange(request, info)

    def with_extras(self, values: RequestValues) -> RequestValues:
        """Return a request with what the caller adds to its query and its body.

        Raises:
            UsageError: the operation sends a parameter or a property of this name itself, or it sends no body.
        """
        query, body, present = self.options.query, self.options.body, values.query
        if not (query or body) or isinstance(present, str):  # a page, whose first request has them, has a string
            return values
        _check_extra("extra_query", query.keys() & present.keys())
        values = replace(values, query={**present, **query})
        if not body:
            return values
        own = encode(values.body)
        if not isinstance(own, dict):
            raise UsageError(f"extra_body: {values.method} {values.route} sends no body", argument="extra_body")
        _check_extra("extra_body", body.keys() & own.keys())
        return replace(values, body={**own, **body})

    async def exchange(self, request: Request, info: CallInfo) -> DecodedResponse:
        """Send a request that follows the rules, report its response, and raise the typed error for its status."""
        result = await self.transport.send(request, info)
        response = DecodedResponse(info, result, limit=self.service.max_response_bytes)
        if self.options.on_response is not None and not result.is_held_back:
            self._report(response, self.options.on_response)
        if response.status_code >= 300:
            raise response.status_error()
        if response.fault is not None:
            raise response.decode_error(response.fault)
        return response

    @staticmethod
    def _report(response: DecodedResponse, on_response: Callable[[ResponseInfo], None]) -> None:
        try:
            on_response(response.info())
        except Exception:  # noqa: BLE001  # a response must not be lost because a callback failed, or a log handler
            with suppress(Exception):
                LOG.exception("on_response failed")


def _check_extra(name: str, taken: Set[str]) -> None:
    if taken:
        raise UsageError(f"{name} must not contain {', '.join(sorted(taken))}: the operation sends it", argument=name)


def with_changes(value: D, /, **changes: object) -> D:
    """Return a value with other fields; those that are UNSET stay."""
    present: dict[str, Any] = {name: change for name, change in changes.items() if change is not UNSET}
    return replace(value, **present) if present else value


def as_timeout(value: float | httpx.Timeout) -> dict[str, float | None]:
    """Return the limits of one attempt in seconds, by the names that httpx gives them.

    Raises:
        UsageError: it is neither a number of seconds nor a timeout.
    """
    if isinstance(value, httpx.Timeout):
        return value.as_dict()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LONGEST:
        raise UsageError("timeout must be a number of seconds above 0, or an httpx.Timeout", argument="timeout")
    return dict.fromkeys(_LIMITS, value)


def as_callback(name: str, value: Callable[[T], None] | None) -> Callable[[T], None] | None:
    """Return a callback as it is.

    Raises:
        UsageError: it cannot be called, or nobody would await what it returns.
    """
    if value is not None and (not callable(value) or iscoroutinefunction(value)):
        raise UsageError(f"{name} must be a function that takes one argument, not a coroutine function", argument=name)
    return value


def with_extra(name: str, present: Mapping[str, T], extra: Mapping[str, T] | Unset, kind: type[T]) -> Mapping[str, T]:
    """Return parameters or properties for `CallOptions`: those that are present, and those that a caller gave.

    Raises:
        UsageError: they are no mapping of strings to values of their kind, or one cannot be sent.
    """
    if isinstance(extra, Unset):
        return present
    if not isinstance(extra, Mapping) or not all(
        isinstance(key, str) and isinstance(value, kind) for key, value in extra.items()
    ):
        what = "strings" if kind is str else "values"
        raise UsageError(f"{name} must be a mapping of names to {what}", argument=name)
    if kind is str:
        check_characters(name, *extra, *map(str, extra.values()))
    else:
        write_json(extra, name=name)
    return {**present, **extra}


def with_headers(
    present: Mapping[str, str], headers: Mapping[str, str] | Unset, correlation_id: str | Unset | None
) -> dict[str, str]:
    """Return headers for `CallOptions`: those that are present, changed by those that a caller gave.

    Raises:
        UsageError: a name or a value cannot be sent, or the client writes the header itself.
    """
    added = {**present}
    if not isinstance(headers, Unset):
        if not isinstance(headers, Mapping):
            raise UsageError("headers must be a mapping of header names to strings", argument="headers")
        for name, value in headers.items():
            check_header_name(name)
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
