"""The error and the warning of a success that does not match the specification."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .request import Received


class ResponseDecodeError(Exception):
    """A 2xx response that does not match the specification. It has the response's `status`, `headers` and `body`."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, *, reason: str | None = None) -> None:
        said = reason or "it does not match the specification"
        super().__init__(f"response with status {status} and {len(body)} bytes: {said}")
        self.status = status
        self.headers = headers
        self.body = body


def decode_error(response: Received, reason: str | None = None) -> Exception:
    """Return the error of a response; a response with a method `decode_error` makes it itself."""
    make: Callable[[str | None], Exception] | None = getattr(response, "decode_error", None)
    if make is not None:
        return make(reason)
    return ResponseDecodeError(response.status_code, response.headers, response.content, reason=reason)


def read_json(response: Received) -> Any:
    """Return the JSON of a success.

    Raises:
        ResponseDecodeError, or what the client in use raises instead: it is none. No frame of it holds the body, and
            neither does its cause: a service may echo a secret.
    """
    try:
        return response.json()
    except (ValueError, RecursionError):
        pass
    raise decode_error(response, "the body is not JSON")


def read_object(response: Received) -> dict[str, Any]:
    """Return the JSON object of a success.

    Raises:
        ResponseDecodeError, or what the client in use raises instead: it is none. See `read_json`.
    """
    body = read_json(response)
    if isinstance(body, dict):
        return body
    del body
    raise decode_error(response, "an object was expected")


def report_misfits(response: Received, places: Sequence[str]) -> None:
    """Log a warning of values that have another JSON type than documented, and stay as they came.

    A response with a method `warn` logs it itself. The values are not part of it, because they may be secrets.
    """
    others = f", and {len(places) - 1:,} more" if places[1:] else ""
    words = f"another JSON type than documented: {places[0]}{others}"
    warn: Callable[[str], None] | None = getattr(response, "warn", None)
    if warn is not None:
        warn(words)
    else:
        logging.getLogger(__package__).warning("response with status %s: %s", response.status_code, words)


__all__ = ["ResponseDecodeError", "decode_error", "read_json", "read_object", "report_misfits"]
