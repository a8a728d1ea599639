"""Requests and responses, under names that do not say which HTTP library they come from."""

from collections.abc import Mapping
from typing import Any

import httpx

Request = httpx.Request
Response = httpx.Response
#: The body of a response as it comes in.
BodyStream = httpx.AsyncByteStream
#: One that was read.
ReadBody = httpx.ByteStream


class CompleteRequest(httpx.Request):
    """An `httpx.Request` with its complete body. The constructor of httpx, which takes anything, takes longer."""

    def __init__(
        self, method: str, *, url: httpx.URL, headers: Mapping[str, str], content: bytes, extensions: dict[str, Any]
    ) -> None:
        self.method = method
        self.url = url
        self.headers = httpx.Headers(headers)
        self.extensions = extensions
        self.stream = httpx.ByteStream(content)
        self._body = content

    @property
    def content(self) -> bytes:
        """The body."""
        return self._body

    async def aread(self) -> bytes:
        """Return the body."""
        return self._body


def copy_of(request: Request) -> Request:
    """Copy a request, so that each one that was sent stays as it was for those who keep it."""
    return Request(
        request.method,
        request.url,
        headers=with_known_length(request.headers),
        content=request.content or None,
        extensions={**request.extensions},
    )


def copy_of_response(response: Response) -> Response:
    """Copy a response that was read, so that each call has its own."""
    assert isinstance(response.stream, ReadBody)  # noqa: S101  # its body can be read again
    return Response(
        response.status_code, headers=response.headers, stream=response.stream, extensions={**response.extensions}
    )


def with_known_length(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers for a body that is complete by now, though it was to be streamed."""
    if "transfer-encoding" not in headers:
        return headers
    return httpx.Headers([pair for pair in headers.raw if pair[0].lower() != b"transfer-encoding"])


def as_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers that are looked up without regard to case."""
    return httpx.Headers(headers)


def without_encoding(response: Response) -> httpx.Headers:
    """Return the headers of a response for its body once that is decoded."""
    if "content-encoding" not in response.headers:
        return response.headers
    headers = response.headers.copy()
    del headers["content-encoding"]
    headers.pop("content-length", None)
    return headers
