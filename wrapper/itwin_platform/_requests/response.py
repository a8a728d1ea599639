"""A final response: decoded, described, and turned into the error that it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._errors import APIStatusError, ResponseDecodeError
from .._http.attempts.body import KEPT_OF_TOO_LARGE, decoded_body, without_encoding
from .._http.attempts.call import call_info, call_result
from .._http.connections.messages import ReadBody, Response
from .._json import read_json
from .._status_errors import limited_by, status_error


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


def response_info(response: Response) -> ResponseInfo:
    """Describe a response that has its request."""
    call, result = call_info(response.request), call_result(response)
    tier, api, operation = limited_by(response.headers)
    return ResponseInfo(
        method=call.method,
        route=call.route,
        status=response.status_code,
        headers=response.headers,
        attempts=result.attempts,
        seconds=result.seconds,
        correlation_id=response.headers.get("x-correlation-id"),
        tier=tier,
        api=api,
        operation=operation,
    )


class DecodedResponse(Response):
    """A response whose body is read and decoded. Its headers are those that came, without the encoding."""

    def __init__(self, response: Response, body: bytes) -> None:
        # As a stream that is read already: httpx would decode and join what it is given as content.
        super().__init__(
            response.status_code,
            headers=without_encoding(response),
            stream=ReadBody(body),
            extensions=response.extensions,
        )
        self._body = body

    @property
    def content(self) -> bytes:
        """The decoded body."""
        return self._body

    def json(self, **arguments: Any) -> Any:
        """Deserialize the body; with arguments, which are those of `json.loads`, as httpx does."""
        return super().json(**arguments) if arguments else read_json(self._body)

    def decode_error(self) -> ResponseDecodeError:
        """Return the error of a success that is not as described; the generated functions raise it."""
        return decode_error_of(self)


def decoded_response(response: Response, *, limit: int) -> DecodedResponse:
    """Decode a response as the attempts return it.

    Args:
        response: a response, read and not decoded.
        limit: the largest decoded body, in bytes.

    Raises:
        ResponseDecodeError: a success that is larger, or that cannot be decoded. An error response is never replaced by
            this: its body is kept as far as it could be decoded.
    """
    body, reason = decoded_body(response, limit=limit)
    decoded = DecodedResponse(response, body)
    if reason is not None and response.status_code < 300:
        error = ResponseDecodeError(response.status_code, decoded.headers, body[:KEPT_OF_TOO_LARGE], reason=reason)
        error.attempts = call_result(response).attempts
        raise error
    return decoded


def status_error_of(response: Response) -> APIStatusError:
    """Make the error for a decoded response with a status of 300 or above."""
    result = call_result(response)
    return status_error(
        status=response.status_code,
        headers=response.headers,
        body=response.content,
        attempts=result.attempts,
        retry_after=result.retry_after,
        retry_at=result.retry_at,
        reason=result.reason,
        token=None if result.token is None else result.token.value,
    )


def decode_error_of(response: Response, *, reason: str | None = None) -> ResponseDecodeError:
    """Make the error for a success that does not match the specification."""
    error = ResponseDecodeError(response.status_code, response.headers, response.content, reason=reason)
    error.attempts = call_result(response).attempts
    call = call_info(response.request)
    error.method, error.route = call.method, call.route
    return error
