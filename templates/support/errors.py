"""The error and the warning of a success that does not match the specification."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .request import Received


class ResponseDecodeError(Exception):
    """A 2xx response that does not match the specification, with its `status`, `headers` and `body`."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, *, reason: str | None = None) -> None:
        reason = reason or "it does not match the specification"
        super().__init__(f"response with status {status} and {len(body)} bytes: {reason}")
        self.status = status
        self.headers = headers
        self.body = body


def decode_error(response: Received, reason: str | None = None) -> Exception:
    """Return the error for a response: that of its method `decode_error`, or else a `ResponseDecodeError`."""
    make: Callable[[str | None], Exception] | None = getattr(response, "decode_error", None)
    if make is not None:
        return make(reason)
    return ResponseDecodeError(response.status_code, response.headers, response.content, reason=reason)


def read_json(response: Received) -> Any:
    """Return the JSON value of a successful response.

    Raises:
        ResponseDecodeError, or the error of the response's `decode_error`: the body is not JSON. Neither its frames
            nor its cause hold the body, because a service may echo a secret.
    """
    try:
        return response.json()
    except (ValueError, RecursionError):
        pass
    raise decode_error(response, "the body is not JSON")


def read_object(response: Received) -> dict[str, Any]:
    """Return the JSON object of a successful response.

    Raises:
        ResponseDecodeError, or the error of the response's `decode_error`: the body is not a JSON object.
    """
    body = read_json(response)
    if isinstance(body, dict):
        return body
    del body
    raise decode_error(response, "an object was expected")


def report_misfits(response: Received, places: Sequence[str]) -> None:
    """Log one warning about values of another JSON type than documented, by the method `warn` of the response.

    The warning has the places of the values, and not the values, because they may be secrets.
    """
    others = f", and {len(places) - 1:,} more" if places[1:] else ""
    message = f"another JSON type than documented: {places[0]}{others}"
    warn: Callable[[str], None] | None = getattr(response, "warn", None)
    if warn is not None:
        warn(message)
    else:
        logging.getLogger(__package__).warning("response with status %s: %s", response.status_code, message)
