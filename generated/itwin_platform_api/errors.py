"""The error of a success that does not match the specification."""

from collections.abc import Callable, Mapping

import httpx

DECODE_ERROR = "itwin_platform_api.decode_error"


class ResponseDecodeError(Exception):
    """A 2xx response that does not match the specification. It has the response's `status`, `headers` and `body`."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"the response with status {status} does not match the specification ({len(body)} bytes)")
        self.status = status
        self.headers = headers
        self.body = body


def decode_error(response: httpx.Response) -> Exception:
    """Return the error of a response. A client names what makes its own error in the response's extensions."""
    make: Callable[[httpx.Response], Exception] | None = response.extensions.get(DECODE_ERROR)
    if make is not None:
        return make(response)
    return ResponseDecodeError(response.status_code, response.headers, response.content)


__all__ = ["DECODE_ERROR", "ResponseDecodeError", "decode_error"]
