"""Sends requests to the platform: the vendor in Accept, only to the service, a typed error for each failure."""

import json
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx
from itwin_platform_api.encoding import encode
from itwin_platform_api.request import RequestValues
from itwin_platform_api.unset import UNSET, Unset

from .._errors import (
    APIStatusError,
    PlatformError,
    ResponseDecodeError,
    UsageError,
    limited_by,
    status_error_class,
)
from .._http.attempts.body import KEPT_OF_TOO_LARGE, decoded_body
from .._http.attempts.call import CallInfo, CallResult
from .._http.attempts.transport import BackoffTransport
from .._http.connections.messages import Headers, Request, values_of, without_encoding
from .._http.policy import BackoffPolicy
from .._version import LOG
from .request import (
    FIXED_HEADERS,
    Service,
    cannot_be_sent,
    check_characters,
    check_header,
    check_header_name,
    check_path,
    check_request,
    make_request,
    merged_headers,
    write_json,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseInfo:
    """The final response of a call, without its body.

    Args:
        method: the HTTP method.
        route: the template of the path, such as `/scenes/{scene_id}/objects`; the path itself when none is known.
        status: the HTTP status.
        headers: the response headers, looked up without regard to case; they are not part of `repr`.
        attempts: how many requests were sent.
        seconds: how long the call took, with queueing, retries and delays.
        correlation_id: the one in the response; None when it has none.
        tier: the tier of the rate limit that the response names; None when it names none.
        api: the API of that rate limit.
        operation: the operation of that rate limit.
    """

    method: str
    route: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    attempts: int
    seconds: float
    correlation_id: str | None
    tier: str | None = None
    api: str | None = None
    operation: str | None = None


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


class CallName:
    """Lets the errors that leave a `with` statement name the call: its method and the template of its path.

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


class DecodedResponse:
    """The final response of a call, its body decoded.

    Args:
        call: what the call carried to its attempts.
        result: what these came to.
        limit: the largest decoded body, in bytes.

    `content` is the decoded body, and `fault` why a success cannot be used; None when it can.
    """

    __slots__ = ("call", "content", "fault", "result", "status_code")

    def __init__(self, call: CallInfo, result: CallResult, *, limit: int) -> None:
        self.call, self.result = call, result
        # In no frame of a call that fails: a service may echo the token.
        self.content, self.fault = decoded_body(result.response, limit=limit)
        self.status_code: int = result.response.status_code

    @property
    def headers(self) -> Headers:
        """A copy of the headers that came, without the encoding."""
        return without_encoding(self.result.response.headers)

    @property
    def _token(self) -> str | None:
        return None if self.result.token is None else self.result.token.value

    def json(self) -> Any:
        """Deserialize the body."""
        return read_json(self.content)

    def info(self) -> ResponseInfo:
        """Describe the response."""
        headers = self.headers
        tier, api, operation = limited_by(headers)
        return ResponseInfo(
            method=self.call.method,
            route=self.call.route,
            status=self.status_code,
            headers=headers,
            attempts=self.result.attempts,
            seconds=self.result.seconds,
            correlation_id=headers.get("x-correlation-id"),
            tier=tier,
            api=api,
            operation=operation,
        )

    def status_error(self) -> APIStatusError:
        """Return the error of a status of 300 or above."""
        result = self.result
        return status_error_class(self.status_code)(
            status=self.status_code,
            headers=self.headers,
            body=self.content,
            attempts=result.attempts,
            retry_after=result.retry_after,
            retry_at=result.retry_at,
            reason=result.reason,
            token=self._token,
        )

    def decode_error(self, reason: str | None) -> ResponseDecodeError:
        """Return the error of a success that is not as described; the generated functions raise it."""
        body = self.content if self.fault is None else self.content[:KEPT_OF_TOO_LARGE]
        error = ResponseDecodeError(self.status_code, self.headers, body, reason=reason, token=self._token)
        error.attempts, error.method, error.route = self.result.attempts, self.call.method, self.call.route
        return error


def read_json(body: bytes) -> object:
    """Deserialize a body.

    Raises:
        ValueError: The body is not JSON.
        RecursionError: It is nested too deeply.
    """
    from msgspec.json import decode

    try:
        return decode(body)
    except ValueError:
        # The standard library reads NaN, 1e400 and half of a surrogate pair, which msgspec rejects.
        return json.loads(body)


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
        with CallName(values.method, values.route):
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
        if self.options.on_response is not None:
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


class PlatformHTTPClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for the generated functions, and for requests that no operation covers.

    The generated functions call `send_values`. All else that an AsyncClient offers goes through the same attempts, with
    the same rules and the same errors; cookies and redirects are off.
    """

    def __init__(self, sender: PlatformSender) -> None:
        super().__init__(
            transport=_RulesTransport(sender),
            base_url=sender.service.base_url,
            timeout=httpx.Timeout(**sender.options.timeout),
            headers=merged_headers(FIXED_HEADERS, sender.options.headers),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # stores none, and sends none
            trust_env=False,
        )
        self._sender = sender

    def __repr__(self) -> str:
        return f"PlatformHTTPClient({self._sender.service.address!r})"

    async def send_values(self, values: RequestValues) -> DecodedResponse:
        """Send a request as the operations do."""
        return await self._sender.send(values)

    async def request(self, method: str, url: httpx.URL | str, *, json: object = None, **others: Any) -> httpx.Response:
        """Send a request as an AsyncClient does, with JSON written as the operations write it.

        Raises:
            UsageError: the body is not JSON, or the address cannot be sent.
        """
        with CallName(method, str(url).partition("?")[0]):
            if isinstance(url, str) and url.startswith("/"):
                check_path(url, route=url.partition("?")[0])
            if json is not None:
                others["content"] = write_json(json, name="json")
                others["headers"] = httpx.Headers(others.get("headers"))
                others["headers"].setdefault("Content-Type", "application/json")
            try:
                return await super().request(method, url, **others)
            except (httpx.InvalidURL, UnicodeError) as error:
                raise cannot_be_sent(error) from None


class _RulesTransport(httpx.AsyncBaseTransport):
    """Applies the rules that always hold to the requests of an AsyncClient. The client's owner closes the sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        service, policy = self._sender.service, self._sender.options.policy
        info = CallInfo(method=request.method, route=request.url.path, policy=policy, has_template=False)
        with CallName(info.method, info.route):
            check_request(request, service=service)
            accept = request.headers.get("accept", "")
            if "{vendor}" in accept:
                request.headers["accept"] = accept.replace("{vendor}", service.vendor)
            for name in ("authorization", "cookie"):
                request.headers.pop(name, None)
            response = await self._sender.exchange(await values_of(request), info)
        stream, extensions = httpx.ByteStream(response.content), {**response.result.response.extensions}
        return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=extensions)


def _check_extra(name: str, taken: Set[str]) -> None:
    if taken:
        raise UsageError(f"{name} must not contain {', '.join(sorted(taken))}: the operation sends it", argument=name)


def unwrap(response: DecodedResponse, value: T | None, kind: type[T]) -> T:
    """Return a value that the specification requires.

    Raises:
        ResponseDecodeError: the value is missing, or something else; the response stays on the error.
    """
    if isinstance(value, kind):
        return value
    del value  # tools that report errors show what frames hold
    raise response.decode_error(f"the response has no {kind.__name__}, which the specification requires")


def with_changes(value: D, /, **changes: object) -> D:
    """Return a value with other fields; those that are UNSET stay."""
    present: dict[str, Any] = {name: change for name, change in changes.items() if change is not UNSET}
    return replace(value, **present) if present else value


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
        added.pop("x-correlation-id", None)
        if correlation_id is not None:
            check_header("correlation_id", correlation_id)
            added["x-correlation-id"] = correlation_id
    return added
