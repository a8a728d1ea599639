"""From an answer to the right exception, or to what was promised, by values alone. Source: sections 2.11 and 7."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from .._api import Response
from .._attempts.policy import parse_retry_after
from .._errors import APIStatusError, ErrorDetail, ResponseDecodeError, status_error_class

M = TypeVar("M")
R = TypeVar("R")


def status_error(
    *, status: int, headers: Mapping[str, str], body: bytes, attempts: int, now: datetime
) -> APIStatusError:
    """Makes the error for an answer with a status of 300 or above.

    The body may be anything; what cannot be read from it is None or empty, and all of it stays in `.body`.

    Args:
        status: the HTTP status.
        headers: the answer's headers, looked up without regard to case.
        body: the decoded body.
        attempts: how many requests were sent.
        now: the wall clock, for `retry_at`.
    """
    said = _error_object(body)
    retry_after = parse_retry_after(headers.get("retry-after"), date=headers.get("date"), now=now)
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
        retry_at=moment_after(now, retry_after),
    )


def unwrapped(response: Response[R], value: object, kind: type[M]) -> M:
    """Returns the value where it is what the description says.

    Raises:
        ResponseDecodeError: it is missing, or something else; the answer stays on the error.
    """
    if isinstance(value, kind):
        return value
    raise ResponseDecodeError(
        response.status_code, response.headers, response.content, reason=f"it holds no {kind.__name__} where one is due"
    )


def moment_after(now: datetime, seconds: float | None) -> datetime | None:
    """Adds seconds to a moment; None where there are none, or where the calendar ends before."""
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
