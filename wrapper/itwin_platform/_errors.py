"""What can go wrong, as one tree. Source: section 7.

PlatformError                     .method .route of the call, which its text begins with, and .path as it was sent
  |                               .correlation_id of the response, if one came
  |                               .resume continues a listing that failed, .collected is what `collect()` had by then
  UsageError(ValueError)          rejected before sending: .argument .rule .code .target
    StateError                    a closed client or gate, or one of another event loop: not the input's fault
  TransportError                  no response: .sent (whether the request can have had an effect) .attempts .scene_id
    NotSentError                  it certainly had none
    OutcomeUnknownError           it may have had one
    DeadlineExceededError         the deadline or the queue timeout passed
  TokenError                      the token provider failed, or returned what cannot be a token
  PagingError                     a listing cannot be followed safely, or does not advance
  DeliveryError                   a webhook delivery whose signature or form is wrong
  ResponseDecodeError             a success that does not match the specification: .status .headers .body
    |                             .correlation_id .attempts
  APIStatusError                  a response with status 300 or above: .status .code .message .target .details .headers
    |                             .body .correlation_id .attempts .retryable .retry_after .retry_at
    BadRequestError               400
    AuthenticationError           401
    PermissionDeniedError         403
    NotFoundError                 404
    ConflictError                 409
    RequestTooLargeError          413
    UnprocessableError            422
    RateLimitError                429, or held back by a known cooldown: .tier .api .operation
    ServerError                   5xx

Each class has a `doc_url`: the section of the troubleshooting page that says what to do.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from itwin_platform_transport import RETRYABLE_STATUS_CODES, PlatformError, when_to_retry

from ._version import CORRELATION_ID, HEADERS

#: The most characters of the text of an error.
LONGEST_TEXT = 2048
#: What of these are left for the method and the route, which stand first.
_LONGEST_CALL = 128
#: Characters that end a line, steer a terminal, or turn the direction of a line.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"
#: The most bytes of an error response that stay on the error.
KEPT = 65_536


# Source: section 2.11.
@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """One entry of an error's `details`; what the service omitted is None."""

    code: str | None = None
    message: str | None = None
    target: str | None = None

    def __str__(self) -> str:
        target = f" [{self.target}]" if self.target else ""
        return printable(f"{self.code or 'no code'}{target}: {self.message or 'no message'}")


class PagingError(PlatformError):
    """A listing that cannot be followed: a link leads to another operation, repeats, or does not advance."""


class DeliveryError(PlatformError):
    """A webhook delivery whose signature is missing or wrong, or whose body is not an event."""


class APIStatusError(PlatformError):
    """A response with a status of 300 or above. What its body omits is None or empty.

    Attributes:
        status: the HTTP status.
        code: equal to a member of `ErrorCode` or to its string; a code that is not documented is kept.
        message: the words of the service.
        target: the property or parameter that is wrong.
        details: one entry for each rule that the request breaks.
        headers: the response headers, looked up without regard to case.
        body: the first 64 KiB of the body.
        attempts: how many requests were sent.
        retry_after: the delay that the service asked for, in seconds.
        retry_at: when that delay ends.
    """

    def __init__(
        self,
        *,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        attempts: int,
        retry_after: float | None = None,
        retry_at: datetime | None = None,
        reason: str | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        parsed = _error_object(body)

        def text(value: object) -> str | None:
            if not isinstance(value, str):
                return None
            # Half of a surrogate pair, which JSON can write, would make the error's text one that no log can hold.
            # What is confidential is hidden once more: JSON can write each of its characters as an escape.
            return hide(value.encode("utf-8", "replace").decode())

        self.status = status
        self.code: str | None = text(parsed.get("code"))
        self.message: str | None = text(parsed.get("message"))
        self.target: str | None = text(parsed.get("target"))
        self.details: tuple[ErrorDetail, ...] = _details(parsed.get("details"), text)
        self.headers = headers
        self.body: bytes = body[:KEPT]
        self.attempts = attempts
        self.retry_after = retry_after
        self.retry_at = retry_at
        self.correlation_id: str | None = headers.get(CORRELATION_ID)
        super().__init__(self._said(reason))

    @property
    def retryable(self) -> bool:
        """True when the same request may succeed later: 429, 502, 503 and 504."""
        return self.status in RETRYABLE_STATUS_CODES

    def _said(self, reason: str | None) -> str:
        advice = when_to_retry(self.retry_after, reason=reason)
        if self.status == 429:
            advice = f"rate limited: {advice}" if advice else "rate limited"
        if advice is not None and not (self.code or self.message):
            said, advice = f"{self.status} {advice}", None
        else:
            message = self.message or _first_line(self.headers, self.body) or "the response has no message"
            said = f"{self.status} {self.code or 'without a code'}: {message}"
        # Each detail takes a line, so more of them never fit into the text.
        details = [f"- {detail}" for detail in self.details[:LONGEST_TEXT]]
        return join_lines([printable(said), *details], advice, correlation_id=self.correlation_id)


class BadRequestError(APIStatusError):
    """400: the body is not valid."""


class AuthenticationError(APIStatusError):
    """401: no valid token, a missing scope, or malformed headers."""


class PermissionDeniedError(APIStatusError):
    """403: the caller lacks the permission for the operation."""


class NotFoundError(APIStatusError):
    """404: the resource or the operation does not exist."""


class ConflictError(APIStatusError):
    """409: the name or id exists already."""


class RequestTooLargeError(APIStatusError):
    """413: the request body is too large."""


class UnprocessableError(APIStatusError):
    """422: the request breaks a rule, which `details` name."""


class RateLimitError(APIStatusError):
    """429, or held back by a known cooldown."""

    @property
    def tier(self) -> str | None:
        """The tier of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).tier

    @property
    def api(self) -> str | None:
        """The API of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).api

    @property
    def operation(self) -> str | None:
        """The operation of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).operation


class ServerError(APIStatusError):
    """5xx: the service failed. 502, 503 and 504 usually pass by themselves."""


_BY_STATUS: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: RequestTooLargeError,
    422: UnprocessableError,
    429: RateLimitError,
}


def status_error_class(status: int) -> type[APIStatusError]:
    """Return the class that the tree names for a status, ServerError for any 5xx, else APIStatusError."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else APIStatusError)


def _error_object(body: bytes) -> Mapping[str, object]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    error = parsed.get("error", parsed)
    return error if isinstance(error, dict) else {}


def _details(value: object, text: Callable[[object], str | None]) -> tuple[ErrorDetail, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        ErrorDetail(code=text(item.get("code")), message=text(item.get("message")), target=text(item.get("target")))
        for item in value
        if isinstance(item, dict)
    )


def _first_line(headers: Mapping[str, str], body: bytes) -> str | None:
    """Return the first line of a body that is plain text; None for any other."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    text = body[:LONGEST_TEXT].decode("utf-8", "replace").strip()
    is_text = kind == "text/plain" or (not kind and not text.startswith(("<", "{", "[", '"')) and text != "null")
    return text.splitlines()[0] if is_text and text else None


def printable(text: str) -> str:
    """Escape control characters, so that the words of a service cannot forge a line of a log; cut what is very long."""
    return re.sub(_CONTROL, lambda found: ascii(found[0])[1:-1], text[:LONGEST_TEXT])


def join_lines(said: list[str], advice: str | None, *, correlation_id: str | None) -> str:
    """Join what the service said with when to retry and what to tell support; what is too long is cut of the former."""
    ours = [] if advice is None else [f"- {advice}"]
    if correlation_id:
        ours.append(f"- correlation id {printable(correlation_id[:200])}")
    words, room = "\n".join(said), LONGEST_TEXT - _LONGEST_CALL - len("\n".join(ours))
    return "\n".join([words if len(words) <= room else words[: room - 3] + "...", *ours])
