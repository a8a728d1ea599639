"""Map a status to the right exception, by values alone. Source: sections 2.11 and 7."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

import httpx

from ._errors import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ErrorDetail,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    ServerError,
    UnprocessableError,
)

#: Where a response says when to retry: a second name has been seen beside the documented one, and either is read.
RETRY_AFTER_HEADERS = ("retry-after", "itwinplatform-ratelimit-retry-after-seconds")
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
#: The most bytes of an error response that stay on the error.
_KEPT = 65_536
#: A shorter token may be a part of many words: it is redacted where it stands alone, unless it is a word itself.
_SHORTEST_TOKEN = 8
_REDACTED = "[redacted]"


def status_error(
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    attempts: int,
    retry_after: float | None = None,
    retry_at: datetime | None = None,
    reason: str | None = None,
    token: str | None = None,
) -> APIStatusError:
    """Make the error for a status of 300 or above.

    The body may be anything. What cannot be read from it is None or empty, and its first 64 KiB stay in `.body`.

    Args:
        status: the HTTP status.
        headers: the response headers, looked up without regard to case.
        body: the decoded body.
        attempts: how many requests were sent.
        retry_after: the delay that the service asks for, in seconds.
        retry_at: when that delay ends.
        reason: why the client does not retry.
        token: the token of the request, which is redacted.
    """
    hidden = None if token is None else _pattern_of(token)
    if hidden is not None:
        # Latin-1 has a character for each byte.
        body = hidden.sub(_REDACTED, body.decode("latin-1")).encode("latin-1")
        if any(map(hidden.search, headers.values())):
            headers = httpx.Headers({name: hidden.sub(_REDACTED, value) for name, value in headers.items()})
    parsed = _error_object(body)
    text = partial(_text, hidden=hidden)
    error = status_error_class(status)(
        status=status,
        code=text(parsed.get("code")),
        message=text(parsed.get("message")),
        target=text(parsed.get("target")),
        details=_details(parsed.get("details"), text),
        headers=headers,
        body=body[:_KEPT],
        attempts=attempts,
        retry_after=retry_after,
        retry_at=retry_at,
        reason=reason,
    )
    if isinstance(error, RateLimitError):
        error.tier, error.api, error.operation = limited_by(headers)
    return error


def _pattern_of(token: str) -> re.Pattern[str] | None:
    if len(token) >= _SHORTEST_TOKEN:
        return re.compile(re.escape(token))
    return None if token.isalpha() else re.compile(rf"(?<![\w-]){re.escape(token)}(?![\w-])")


def status_error_class(status: int) -> type[APIStatusError]:
    """Return the class that the tree names for a status, ServerError for any 5xx, else APIStatusError."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else APIStatusError)


def limited_by(headers: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
    """Return the tier, API and operation that a response of 429 names; two undocumented sets of headers are known."""

    def named(*names: str) -> str | None:
        return next((headers[name] for name in names if headers.get(name)), None)

    return (
        named("itwinplatform-ratelimited-tier", "itwinplatform-tier", "tier"),
        named("itwinplatform-ratelimited-api"),
        named("itwinplatform-ratelimited-operation"),
    )


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


def _text(value: object, *, hidden: re.Pattern[str] | None) -> str | None:
    if not isinstance(value, str):
        return None
    # Half of a surrogate pair, which JSON can write, would make the error's text one that no log can hold.
    text = value.encode("utf-8", "replace").decode()
    # Once more: JSON can write each character of the token as an escape.
    return text if hidden is None else hidden.sub(_REDACTED, text)
