"""Requests and responses that make their `httpx.Headers` when somebody asks for them.

The client and its own transports need a few headers only. Whoever looks at `headers` - an event hook, an auth, a
transport of the caller, OpenTelemetry - gets real ones, and what is changed there is sent.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import httpx

#: Headers as a transport has received them.
RawHeaders = Sequence[tuple[bytes, bytes]]

# What httpx sets in its constructors, which take ten times as long.
_REQUEST = dict(vars(httpx.Request("GET", "http://localhost", stream=httpx.ByteStream(b""))))
_RESPONSE = dict(vars(httpx.Response(200, stream=httpx.ByteStream(b""))))
del _REQUEST["headers"], _RESPONSE["headers"]


class LazyRequest(httpx.Request):
    """An `httpx.Request` with a complete body, and with plain headers until somebody asks for `headers`."""

    def __init__(
        self,
        method: str,
        url: httpx.URL,
        *,
        headers: dict[str, str],
        content: bytes,
        extensions: dict[str, object],
    ) -> None:
        vars(self).update(
            _REQUEST,
            method=method,
            url=url,
            stream=httpx.ByteStream(content),
            extensions=extensions,
            _plain_headers=headers,
            _body=content,
        )

    @cached_property
    def headers(self) -> httpx.Headers:  # type: ignore[override]  # httpx sets an attribute
        """The headers."""
        return httpx.Headers(self._plain_headers)

    @property
    def content(self) -> bytes:
        """The body."""
        return self._body

    async def aread(self) -> bytes:
        """Return the body."""
        return self._body

    @property
    def plain_headers(self) -> dict[str, str] | None:
        """The headers by their names; None when somebody has asked for `headers`, and may have changed them."""
        return None if "headers" in vars(self) else self._plain_headers

    def copy(self) -> "LazyRequest":
        """Return a request of its own, which is changed apart from this one."""
        copy = LazyRequest(
            self.method,
            self.url,
            headers={**self._plain_headers},
            content=self._body,
            extensions={**self.extensions},
        )
        if self.plain_headers is None:
            vars(copy)["headers"] = self.headers.copy()
        return copy

    _plain_headers: dict[str, str]
    _body: bytes


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
        vars(self).update(
            _RESPONSE,
            status_code=status_code,
            history=[],
            stream=stream,
            extensions={} if extensions is None else {**extensions},
            _received_headers=headers,
        )

    @cached_property
    def headers(self) -> httpx.Headers:  # type: ignore[override]  # httpx sets an attribute
        """The headers."""
        received = self._received_headers
        return received if isinstance(received, httpx.Headers) else httpx.Headers(list(received))

    _received_headers: RawHeaders | httpx.Headers


def set_header(request: httpx.Request, name: str, value: str) -> None:
    """Set a header of a request."""
    plain = request.plain_headers if isinstance(request, LazyRequest) else None
    if plain is None:
        request.headers[name] = value
    else:
        plain[name] = value


def headers_of(response: httpx.Response) -> RawHeaders | httpx.Headers:
    """Return the headers of a response as they are."""
    if isinstance(response, LazyResponse) and "headers" not in vars(response):
        return response._received_headers  # noqa: SLF001  # of this module
    return response.headers


def header_of(response: httpx.Response, name: str) -> str | None:
    """Return one header of a response; of several with this name all, joined by commas."""
    headers = headers_of(response)
    if isinstance(headers, httpx.Headers):
        value: str | None = headers.get(name)
        return value
    wanted = name.encode("ascii")
    found = [value.decode("latin-1") for key, value in headers if key.lower() == wanted]
    return ", ".join(found) if found else None
