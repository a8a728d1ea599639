"""Requests and responses: those of httpx, and ours, which make their `httpx.Headers` when somebody asks for them.

The client and its own transports need a few headers only. Whoever looks at `headers` - an event hook, an auth, a
transport of the caller, OpenTelemetry - gets real ones, and what is changed there is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

#: What attempts and operations pass on, under names that do not say which HTTP library it comes from.
Request = httpx.Request
Response = httpx.Response
#: The body of a response as it comes in.
BodyStream = httpx.AsyncByteStream
#: One that was read.
ReadBody = httpx.ByteStream
#: Headers as a transport has received them.
RawHeaders = Sequence[tuple[bytes, bytes]]


class LazyRequest(httpx.Request):
    """An `httpx.Request` with a complete body, and with plain headers until somebody asks for `headers`.

    Args:
        address: the URL as it is sent.
        url: the same, parsed.
    """

    def __init__(
        self,
        method: str,
        address: str,
        *,
        url: httpx.URL,
        headers: dict[str, str],
        content: bytes,
        extensions: dict[str, Any],
    ) -> None:
        # The constructor of httpx takes ten times as long.
        self.method = method
        self.extensions = extensions
        self.stream = httpx.ByteStream(content)
        self._address: str | None = address
        self._url = url
        self._plain_headers = headers
        self._headers: httpx.Headers | None = None
        self._body = content

    @property
    def headers(self) -> httpx.Headers:
        """The headers."""
        if self._headers is None:
            self._headers = httpx.Headers(self._plain_headers)
        return self._headers

    @headers.setter
    def headers(self, headers: httpx.Headers) -> None:
        self._headers = headers

    @property
    def plain_headers(self) -> dict[str, str] | None:
        """The headers by their names; None when somebody has asked for `headers`, and may have changed them."""
        return self._plain_headers if self._headers is None else None

    @property
    def url(self) -> httpx.URL:
        """The URL."""
        return self._url

    @url.setter
    def url(self, url: httpx.URL) -> None:
        self._url, self._address = url, None

    @property
    def address(self) -> str:
        """The URL as it is sent."""
        return self._address or str(self._url)

    @property
    def content(self) -> bytes:
        """The body."""
        return self._body

    async def aread(self) -> bytes:
        """Return the body."""
        return self._body

    def copy(self) -> "LazyRequest":
        """Return a request of its own, which is changed apart from this one."""
        copy = LazyRequest(
            self.method,
            self.address,
            url=self._url,
            headers={**self._plain_headers},
            content=self._body,
            extensions={**self.extensions},
        )
        if self._headers is not None:
            copy.headers = self._headers.copy()
        return copy


class LazyResponse(httpx.Response):
    """An `httpx.Response` with its headers as they were received, until somebody asks for `headers`."""

    def __init__(
        self,
        status_code: int,
        headers: RawHeaders | httpx.Headers,
        *,
        stream: httpx.AsyncByteStream,
        extensions: Mapping[str, object] | None = None,
    ) -> None:
        # The constructor of httpx takes ten times as long; what it sets besides is set below, on the class.
        self.status_code = status_code
        self.stream = stream
        self.extensions = {} if extensions is None else {**extensions}
        self.history = []
        self._received_headers = headers
        self._headers: httpx.Headers | None = None

    @property
    def headers(self) -> httpx.Headers:
        """The headers."""
        if self._headers is None:
            received = self._received_headers
            self._headers = received if isinstance(received, httpx.Headers) else httpx.Headers(list(received))
        return self._headers

    @headers.setter
    def headers(self, headers: httpx.Headers) -> None:
        self._headers = headers

    @property
    def raw_headers(self) -> RawHeaders | httpx.Headers:
        """The headers as they are."""
        return self._received_headers if self._headers is None else self._headers


for _name, _value in vars(httpx.Response(200, stream=httpx.ByteStream(b""))).items():
    if _name not in ("headers", "history"):
        setattr(LazyResponse, _name, _value)


def copy_of(request: Request) -> Request:
    """Copy a request, so that each one that was sent stays as it was for those who keep it."""
    if isinstance(request, LazyRequest):
        return request.copy()
    return Request(
        request.method,
        request.url,
        headers=with_known_length(request.headers),
        content=request.content or None,
        extensions=request.extensions,
    )


def copy_of_response(response: Response) -> Response:
    """Copy a response that was read, so that each call has its own."""
    assert isinstance(response.stream, ReadBody)  # noqa: S101  # its body can be read again
    return LazyResponse(
        response.status_code, headers_of(response), stream=response.stream, extensions=response.extensions
    )


def with_known_length(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers for a body that is complete by now, though it was to be streamed."""
    if "transfer-encoding" not in headers:
        return headers
    return httpx.Headers([pair for pair in headers.raw if pair[0].lower() != b"transfer-encoding"])


def as_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers that are looked up without regard to case."""
    return httpx.Headers(headers)


def set_header(request: Request, name: str, value: str) -> None:
    """Set a header of a request."""
    plain = request.plain_headers if isinstance(request, LazyRequest) else None
    if plain is None:
        request.headers[name] = value
    else:
        plain[name] = value


def headers_of(response: Response) -> RawHeaders | httpx.Headers:
    """Return the headers of a response as they are."""
    return response.raw_headers if isinstance(response, LazyResponse) else response.headers


def without_encoding(response: Response) -> RawHeaders | httpx.Headers:
    """Return the headers of a response for its body once that is decoded."""
    if header_of(response, "content-encoding") is None:
        return headers_of(response)
    headers = response.headers.copy()
    del headers["content-encoding"]
    headers.pop("content-length", None)
    return headers


def header_of(response: Response, name: str) -> str | None:
    """Return one header of a response; of several with this name all, joined by commas."""
    headers = headers_of(response)
    if isinstance(headers, httpx.Headers):
        value: str | None = headers.get(name)
        return value
    wanted = name.encode("ascii")
    found = [value.decode("latin-1") for key, value in headers if key.lower() == wanted]
    return ", ".join(found) if found else None
