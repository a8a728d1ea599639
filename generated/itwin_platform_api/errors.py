"""The error of a success that is not what the description says."""

from collections.abc import Callable, Mapping

import httpx

DECODE_ERROR = "itwin_platform_api.decode_error"


class ResponseDecodeError(Exception):
    """A success whose body is not what the description says; `status`, `headers` and `body` are the answer's."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"the answer with status {status} is not what the description says ({len(body)} bytes)")
        self.status = status
        self.headers = headers
        self.body = body


def decode_error(response: httpx.Response) -> Exception:
    """Makes the error for an answer: the one named in the response's extensions, else ResponseDecodeError."""
    make: Callable[[int, Mapping[str, str], bytes], Exception] = response.extensions.get(
        DECODE_ERROR, ResponseDecodeError
    )
    return make(response.status_code, response.headers, response.content)


__all__ = ["DECODE_ERROR", "ResponseDecodeError", "decode_error"]
