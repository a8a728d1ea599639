"""The error of a success that does not match the specification."""

from collections.abc import Callable, Mapping

import httpx


class ResponseDecodeError(Exception):
    """A 2xx response that does not match the specification. It has the response's `status`, `headers` and `body`."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"the response with status {status} does not match the specification ({len(body)} bytes)")
        self.status = status
        self.headers = headers
        self.body = body


def decode_error(response: httpx.Response) -> Exception:
    """Return the error of a response; a response with a method `decode_error` makes it itself."""
    make: Callable[[], Exception] | None = getattr(response, "decode_error", None)
    if make is not None:
        return make()
    return ResponseDecodeError(response.status_code, response.headers, response.content)


__all__ = ["ResponseDecodeError", "decode_error"]
