"""The error of a success that does not match the specification."""

from collections.abc import Callable, Mapping

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


__all__ = ["ResponseDecodeError", "decode_error"]
