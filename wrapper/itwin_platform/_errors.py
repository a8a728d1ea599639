"""What can go wrong, as one tree (the description's part: section 7).

PlatformError                     .resume says where a broken listing goes on, .collected what `collect()` had by then
  UsageError(ValueError)          refused before anything was sent: .code .target .rule
  TransportError                  no response: .sent (whether the request can have had an effect) .attempts .scene_id
    NotSentError                  it certainly had none
    OutcomeUnknownError           it may have had one
    DeadlineExceededError         the deadline, or a wait longer than the policy allows, ended the call: .retry_at
  TokenError                      the token source failed, or gave a text that cannot be a token
  PagingError                     a listing that cannot be followed safely, or goes nowhere
  ResponseDecodeError             a success that is not as described: .status .headers .body .correlation_id .attempts
  APIStatusError                  the service refused: .status .code .message .target .details .headers .body
    |                             .correlation_id .attempts .retryable .retry_after .retry_at
    BadRequestError               400
    AuthenticationError           401
    PermissionDeniedError         403
    NotFoundError                 404
    ConflictError                 409
    RequestTooLargeError          413
    UnprocessableError            422
    RateLimitError                429, or held back by a known cooldown: .tier .api .operation
    ServerError                   5xx
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ._error_text import LONGEST_TEXT, join_lines, printable

RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetail:
    """One entry of an error's `details`; what the service left out is None. Source: section 2.11."""

    code: str | None = None
    message: str | None = None
    target: str | None = None

    def __str__(self) -> str:
        target = f" [{self.target}]" if self.target else ""
        return printable(f"{self.code or 'no code'}{target}: {self.message or 'no message'}")


def _restored(cls: type["PlatformError"], text: str, state: dict[str, object]) -> "PlatformError":
    error = cls.__new__(cls, text)
    error.args = (text,)
    error.__dict__.update(state)
    return error


class PlatformError(Exception):
    """Everything that this package raises on purpose."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.resume: str | None = None
        self.collected: tuple[object, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args[0], self.__dict__)


class UsageError(PlatformError, ValueError):
    """Refused before anything was sent, because a documented rule forbids it.

    Args:
        rule: the rule in words, and what to do.
        code: the detail code that the service documents for it, else None.
        target: the property or parameter that it documents, else None.
    """

    def __init__(self, rule: str, *, code: str | None = None, target: str | None = None) -> None:
        named = f" ({code}{f' [{target}]' if target else ''})" if code else ""
        super().__init__(f"{rule}{named}")
        self.rule = rule
        self.code = code
        self.target = target


class TransportError(PlatformError):
    """No answer came; `sent` says whether the request can have had an effect.

    `scene_id` is the id that was given to `scenes.create`: with it, a repeat that ends in ConflictError tells that the
    first one arrived.
    """

    sent: bool = True
    scene_id: str | None = None

    def __init__(self, text: str, *, attempts: int = 0, sent: bool | None = None) -> None:
        super().__init__(text)
        self.attempts = attempts
        if sent is not None:
            self.sent = sent

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.scene_id is None else f"{text}; the scene's id is {self.scene_id}"


class NotSentError(TransportError):
    """No answer came, and the request certainly had no effect: it can be repeated as it is."""

    sent = False


class OutcomeUnknownError(TransportError):
    """No answer came, and the request may have had an effect: look before repeating it."""


class DeadlineExceededError(TransportError):
    """The deadline ended the call, or a wait that the policy does not allow stood before it.

    `retry_at` is when the known wait ends, None where none is known.
    """

    def __init__(
        self, text: str, *, attempts: int = 0, sent: bool | None = None, retry_at: datetime | None = None
    ) -> None:
        super().__init__(text, attempts=attempts, sent=sent)
        self.retry_at = retry_at


class TokenError(PlatformError):
    """The token source failed, or gave a text that cannot be sent as a token."""


class PagingError(PlatformError):
    """A listing that cannot be followed: a link leaves the service's address, repeats, or does not advance."""


class ResponseDecodeError(PlatformError):
    """A success that is not what the description says, or is larger than `max_response_bytes`."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, *, reason: str | None = None) -> None:
        said = reason or "its body is not what the service description says"
        self.correlation_id: str | None = headers.get("x-correlation-id")
        named = f" (correlation id {self.correlation_id})" if self.correlation_id else ""
        super().__init__(f"answer with status {status}: {said}{named}")
        self.status = status
        self.headers = headers
        self.body = body
        self.attempts = 1


class APIStatusError(PlatformError):
    """The service answered with a status of 300 or above.

    What the error body does not say is None or empty; `headers` can be looked up in any case; `attempts` counts the
    requests that were sent; `retry_after` is the wait that the service asked for, in seconds, and `retry_at` its end.
    """

    def __init__(
        self,
        *,
        status: int,
        code: str | None,
        message: str | None,
        target: str | None,
        details: tuple[ErrorDetail, ...],
        headers: Mapping[str, str],
        body: bytes,
        attempts: int,
        retry_after: float | None = None,
        retry_at: datetime | None = None,
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.headers = headers
        self.body = body
        self.attempts = attempts
        self.retry_after = retry_after
        self.retry_at = retry_at
        self.correlation_id: str | None = headers.get("x-correlation-id")
        super().__init__(self._text())

    @property
    def retryable(self) -> bool:
        """True where the same request may succeed later: 429, 502, 503 and 504."""
        return self.status in RETRYABLE_STATUSES

    def _text(self) -> str:
        said = [f"{self.status} {self.code or 'without a code'}: {self.message or 'the answer gives no message'}"]
        said += [f"- {detail}" for detail in self.details[:LONGEST_TEXT]]
        said = [printable(line) for line in said]
        return join_lines(said, self.retry_after, self.retry_at, correlation_id=self.correlation_id)


class BadRequestError(APIStatusError):
    """400: the body is not valid (create scene, create detector)."""


class AuthenticationError(APIStatusError):
    """401: no valid token, a missing scope, or malformed headers."""


class PermissionDeniedError(APIStatusError):
    """403: the caller lacks the permission for the operation."""


class NotFoundError(APIStatusError):
    """404: the resource or the operation does not exist."""


class ConflictError(APIStatusError):
    """409: the name or id is taken."""


class RequestTooLargeError(APIStatusError):
    """413: the request body is above the limit of section 8."""


class UnprocessableError(APIStatusError):
    """422: the request breaks a rule; `details` name which."""


class RateLimitError(APIStatusError):
    """429, or held back by a known cooldown; `tier`, `api` and `operation` name the limit, or are None."""

    tier: str | None = None
    api: str | None = None
    operation: str | None = None


class ServerError(APIStatusError):
    """5xx: the service failed; 502, 503 and 504 pass by themselves."""


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
    """Returns the class that the tree names for a status, ServerError for any 5xx, else APIStatusError."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else APIStatusError)
