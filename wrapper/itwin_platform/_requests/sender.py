"""Send the values of a request with the options of its call, and return its decoded response or a typed error."""

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar

import httpx
from itwin_platform_api.encoding import fields_of
from itwin_platform_api.request import RequestValues
from itwin_platform_transport import (
    BackoffPolicy,
    BackoffTransport,
    CallInfo,
    CallResult,
    PlatformError,
    Request,
    Response,
    ResponseDecodeError,
    UsageError,
)

from .._errors import KEPT, APIStatusError, RateLimited, described, printable, status_error_class
from .._names import CORRELATION_ID, LOGGER
from .body import decoded_body, is_json, read_json, remaining_encodings, spelled_secrets
from .request import Service, make_request

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseInfo(RateLimited):
    """The final response of a call, without its body.

    Args:
        method: the HTTP method.
        route: the template of the path, such as `/scenes/{scene_id}/objects`; the path itself when none is known.
        status: the HTTP status.
        headers: the response headers, with case-insensitive names; not part of `repr`.
        attempts: the number of attempts.
        seconds: the duration of the call, with queueing, retries and delays.
        correlation_id: the correlation id of the response; None when it has none.
    """

    method: str
    route: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    attempts: int
    seconds: float
    correlation_id: str | None


@dataclass(slots=True, eq=False)
class CallOptions:
    """The options of all calls of one client, or of one view of it.

    Args:
        extensions: options for the transport by the names of httpx: the `timeout` of one attempt.
        policy: the limits of one call.
        headers: added to each request, with names in lower case.
        query: added to the query of each request.
        body: added to the body of each request.
        on_response: called with each final response.
    """

    extensions: Final[Mapping[str, Mapping[str, float | None]]]
    policy: Final[BackoffPolicy]
    headers: Final[Mapping[str, str]] = field(default_factory=dict)
    query: Final[Mapping[str, str]] = field(default_factory=dict)
    body: Final[Mapping[str, object]] = field(default_factory=dict)
    on_response: Final[Callable[[ResponseInfo], None] | None] = None


class DecodedResponse:
    """The final response of a call, its body decoded.

    Args:
        call: the method, the route and the policy of the call.
        result: the outcome of its attempts.
        limit: the largest decoded body, in bytes.
        request: the request; errors show its path, and hide its secrets.

    `content` is the decoded body. `fault` is the reason why a success cannot be used, or None. `extensions` are those
    of the transport.
    """

    def __init__(self, call: CallInfo, result: CallResult, limit: int, request: Request) -> None:
        # A call that ends because of a known cooldown gets a 429, also if another process received the 429.
        self._response, self._request = result.response or Response(429), request
        self.call: CallInfo = call
        self.result: CallResult = result
        self.extensions: Mapping[str, Any] = self._response.extensions
        # Decode here so that no traceback frame keeps a body that may echo the token.
        self.content: bytes
        self.fault: str | None
        self.content, self.fault = decoded_body(self._response, limit=limit)
        self.status_code: int = self._response.status_code

    @property
    def headers(self) -> httpx.Headers:
        """The response headers, without the encodings that were decoded."""
        headers = self._response.headers_of_decoded
        if remaining := remaining_encodings(self._response):
            headers["Content-Encoding"] = ", ".join(remaining)
        return headers

    def header(self, name: str) -> str:
        """Return a header by its name in lower case; "" if it is missing. `headers` takes longer."""
        raw, wanted = self._response.raw_headers, name.encode()
        return ", ".join([value.decode("latin-1") for key, value in raw if key.lower() == wanted])

    def json(self) -> Any:
        """Deserialize the body."""
        return read_json(self.content)

    def info(self) -> ResponseInfo:
        """Describe the response."""
        return ResponseInfo(
            method=self.call.method,
            route=self.call.route,
            status=self.status_code,
            headers=self.headers,
            attempts=self.result.attempts,
            seconds=self.result.seconds,
            correlation_id=self.result.hide_token(found) if (found := self.header(CORRELATION_ID)) else None,
        )

    def status_error(self) -> APIStatusError:
        """Return the error of a status of 300 or above."""
        result = self.result
        headers, body, hide = self._without_secrets(self.content)
        return status_error_class(self.status_code)(
            status=self.status_code,
            headers=headers,
            body=body,
            attempts=result.attempts,
            retry_after=result.retry_after,
            retry_at=result.retry_at,
            reason=result.reason,
            hide=hide,
        )

    def decode_error(self, reason: str | None) -> ResponseDecodeError:
        """Return the error of a success that does not match the specification; the generated functions raise it."""
        # A large body is cut before the search for secrets, at twice the kept size: a secret may cross the cut.
        headers, body, hide = self._without_secrets(self.content if self.fault is None else self.content[: 2 * KEPT])
        if (encoding := headers.get("content-encoding", "")[:40]) and not is_json(self.content):
            reason = f"{reason or 'the body is not JSON'}: it is encoded as {encoding!r}, which was not asked for"
        if self.fault is not None:
            body = body[:KEPT]
        elif (description := described(headers, body)) is not None:
            reason = f"{reason} ({printable(hide(description))})"
        correlation_id = headers.get(CORRELATION_ID)
        error = ResponseDecodeError(self.status_code, headers, body, reason=reason, correlation_id=correlation_id)
        error.attempts = self.result.attempts
        path = self._request.target.partition(b"?")[0].decode("ascii")
        ErrorsOfCall(self.call.method, self.call.route, path or None).name(error)
        return error

    def warn(self, words: str) -> None:
        """Log a warning about a success, such as a value of another JSON type than documented."""
        LOGGER.warning("%s %s -> %s: %s", self.call.method, self.call.route, self.status_code, words)

    def _without_secrets(self, body: bytes) -> tuple[httpx.Headers, bytes, Callable[[str], str]]:
        """Return the headers and a body without the token and the secrets that were sent, and the redacting function.

        A service may echo them.
        """
        spellings, raw = spelled_secrets(self._request.content), self.headers

        def hide(text: str) -> str:
            text = self.result.hide_token(text)
            for spelling in spellings:
                text = text.replace(spelling, "[redacted]")
            return text

        headers = httpx.Headers([(name, hide(value)) for name, value in raw.multi_items()], encoding=raw.encoding)
        # Bytes that are no UTF-8 stay as they are.
        return headers, hide(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"), hide


class ErrorsOfCall:
    """A `with` statement that adds the method, the route and the path of a call to the errors that leave it.

    It removes the frames in which arguments were checked from a UsageError: error trackers capture their variables.
    """

    __slots__ = ("method", "path", "route")

    def __init__(self, method: str, route: str, path: str | None = None) -> None:
        self.method, self.route, self.path = method, route, path

    def name(self, error: PlatformError) -> None:
        """Name the call in an error: every error gets its method, route and path here."""
        error.method, error.route, error.path = self.method, self.route, self.path or error.path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, PlatformError):
            self.complete(error)

    def complete(self, error: PlatformError) -> None:
        """Name the call in an error, and remove the frames of a UsageError."""
        self.name(error)
        if isinstance(error, UsageError):
            error.__traceback__ = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSender:
    """Sends the values of a request and returns a success, for every operation and every page.

    Args:
        transport: makes the attempts, and reads each response to its end.
        service: the settings that all requests share.
        options: the options of the calls.
    """

    transport: BackoffTransport
    service: Service
    options: CallOptions

    async def send(self, values: RequestValues) -> DecodedResponse:
        """Send a request and return its response, decoded.

        Raises:
            UsageError: the request cannot be sent, or its body is too large.
            APIStatusError: the status of the response is 300 or above.
        """
        options = self.options
        info = CallInfo(values.method, values.route, options.policy)
        try:
            request = make_request(self.with_extras(values), self.service, options.headers, options.extensions)
            return self.decoded(await self.transport.send(request, info), request, info)
        except PlatformError as error:
            # Not in `with`: see the row "GET" of docs/benchmarks.md.
            ErrorsOfCall(values.method, values.route, self.service.prefix + values.path).complete(error)
            raise

    def with_extras(self, values: RequestValues) -> RequestValues:
        """Return a request with the extra query and the extra body of the caller.

        Raises:
            UsageError: the operation sends a parameter or a property of this name itself, or it sends no body.
        """
        query, body, present = self.options.query, self.options.body, values.query
        if not (query or body) or isinstance(present, str):  # a page: its first request has the extras already
            return values
        _check_extra("extra_query", query.keys() & present.keys())
        values = replace(values, query={**present, **query})
        if not body:
            return values
        fields = fields_of(values.body)
        if not isinstance(fields, dict):
            raise UsageError(f"extra_body: {values.method} {values.route} sends no body", argument="extra_body")
        _check_extra("extra_body", body.keys() & fields.keys())
        return replace(values, body={**fields, **body})

    def decoded(self, result: CallResult, request: Request, info: CallInfo) -> DecodedResponse:
        """Decode the response of a call and report it.

        Raises:
            APIStatusError: its status is 300 or above.
            ResponseDecodeError: it is a success that cannot be used.
        """
        response = DecodedResponse(info, result, self.service.max_response_bytes, request)
        if self.options.on_response is not None and not result.ended_by_cooldown:
            try:
                self.options.on_response(response.info())
            except Exception:  # noqa: BLE001  # a response must not be lost because a callback or a log handler failed
                with suppress(Exception):
                    LOGGER.exception("on_response failed")
        if response.status_code >= 300:
            raise response.status_error()
        if response.fault is not None:
            raise response.decode_error(response.fault)
        return response


def _check_extra(name: str, taken: Set[str]) -> None:
    if taken:
        raise UsageError(f"{name} must not contain {', '.join(sorted(taken))}: the operation sends it", argument=name)


def as_callback(name: str, value: Callable[[T], None] | None) -> Callable[[T], None] | None:
    """Return a callback as it is.

    Raises:
        UsageError: it cannot be called, or it is a coroutine function, which nothing would await.
    """
    if value is not None and (not callable(value) or iscoroutinefunction(value)):
        raise UsageError(f"{name} must be a function that takes one argument, not a coroutine function", argument=name)
    return value


def unwrap(response: DecodedResponse, value: T | None, kind: type[object]) -> T:
    """Return a decoded value that the specification requires.

    Raises:
        ResponseDecodeError: the value is missing, or of another type; the error has the response.
    """
    if value is not None and isinstance(value, kind):
        return value
    del value  # error trackers capture the variables of frames
    raise response.decode_error(f"the response has no {kind.__name__}, which the specification requires")
