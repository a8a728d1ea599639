"""From a response to the right exception, by values alone. Source: sections 2.11 and 7."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

import httpx

from .._errors import APIStatusError, ErrorDetail, status_error_class

#: Under these names the extensions of a response hold how many requests were sent, and when the service allows a retry.
ATTEMPTS, RETRY_AFTER, RETRY_AT = (f"itwin_platform.{name}" for name in ("attempts", "retry_after", "retry_at"))


def error_of(response: httpx.Response) -> APIStatusError:
    """Make the error for a response with a status of 300 or above, read to its end."""
    known = response.extensions
    return status_error(
        status=response.status_code,
        headers=response.headers,
        body=response.content,
        attempts=known.get(ATTEMPTS, 1),
        retry_after=known.get(RETRY_AFTER),
        retry_at=known.get(RETRY_AT),
    )


def status_error(
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    attempts: int,
    retry_after: float | None = None,
    retry_at: datetime | None = None,
) -> APIStatusError:
    """Make the error for a status of 300 or above.

    The body may be anything; what cannot be read from it is None or empty, and all of it stays in `.body`.

    Args:
        status: the HTTP status.
        headers: the response headers, looked up without regard to case.
        body: the decoded body.
        attempts: how many requests were sent.
        retry_after: the delay that the service asks for, in seconds.
        retry_at: when that delay ends.
    """
    said = _error_object(body)
    return status_error_class(status)(
        status=status,
        code=_text(said.get("code")),
        message=_text(said.get("message")),
        target=_text(said.get("target")),
        details=_details(said.get("details")),
        headers=headers,
        body=body,
        attempts=attempts,
        retry_after=retry_after,
        retry_at=retry_at,
    )


def moment_after(now: datetime, seconds: float | None) -> datetime | None:
    """Add seconds to a moment; None when there are none, or when the calendar ends before."""
    try:
        return None if seconds is None else now + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _error_object(body: bytes) -> Mapping[str, object]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    error = parsed.get("error", parsed)
    return error if isinstance(error, dict) else {}


def _details(value: object) -> tuple[ErrorDetail, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        ErrorDetail(code=_text(item.get("code")), message=_text(item.get("message")), target=_text(item.get("target")))
        for item in value
        if isinstance(item, dict)
    )


def _text(value: object) -> str | None:
    # Half of a surrogate pair, which JSON can write, would make the error's text one that no log can hold.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
