"""Read the body of a response, and count decoded bytes while they arrive."""

from collections.abc import Sequence
from typing import Any

import anyio
import httpx

from ..._errors import ResponseDecodeError
from ..._json import decode_json, read_json
from ..._transports.connections.surplus import close_if_surplus
from ..._transports.lazy import LazyResponse, header_of, headers_of
from .encodings import BrokenEncodingError, Decoder, decoded, decoder_of

#: So many bytes of a body that is too large stay on the error.
KEPT_OF_TOO_LARGE = 65_536


class ReadResponse(LazyResponse):
    """A response whose body is read and decoded. Its headers are those that came, without the encoding."""

    def __init__(self, response: httpx.Response, body: bytes) -> None:
        # As a stream that is read already: httpx would decode and join what it is given as content.
        super().__init__(
            response.status_code,
            headers_of(response),
            stream=httpx.ByteStream(body),
            extensions=response.extensions,
        )
        self._body = body

    def _made_headers(self) -> httpx.Headers:
        headers = super()._made_headers()
        if "content-encoding" in headers:
            headers = headers.copy()
            del headers["content-encoding"]
            headers.pop("content-length", None)
        return headers

    @property
    def content(self) -> bytes:
        """The decoded body."""
        return self._body

    def json(self, **arguments: Any) -> Any:
        """Deserialize the body, with the fastest reader that is installed unless arguments are passed."""
        if arguments:
            return super().json(**arguments)
        try:
            return decode_json(self._body)
        except ValueError:
            return read_json(self._body)


async def read_body(response: httpx.Response, *, limit: int) -> httpx.Response:
    """Read a response to its end and return it with its body decoded, its connection given back.

    A response that an event hook or a transport has read already is used as it is.

    Args:
        response: a response as a transport returns it.
        limit: the largest decoded body, in bytes.

    Raises:
        ResponseDecodeError: a success that is larger, or that cannot be decoded. An error response is never replaced
            by this: its body is kept as far as it could be read.
        httpx.RequestError: the body of a success broke off.
    """
    body = bytearray()
    is_success = response.status_code < 300
    if response.is_stream_consumed:
        reason = await _take(response, body, limit=limit)
    else:
        try:
            reason = await _read(response, body, limit=limit)
        except (httpx.RequestError, OSError):
            if is_success:
                raise
            reason = None
    if reason is not None and is_success:
        kept = bytes(body[:KEPT_OF_TOO_LARGE])
        raise ResponseDecodeError(response.status_code, response.headers, kept, reason=reason)
    return ReadResponse(response, bytes(body))


async def _take(response: httpx.Response, body: bytearray, *, limit: int) -> str | None:
    """Take a body that was read already; httpx has decoded it."""
    if "network_stream" in response.extensions:
        await close_if_surplus(response)
    await response.aclose()
    try:
        body += response.content
    except httpx.ResponseNotRead:
        return "an event hook or a transport has consumed its body without keeping it: read it with `aread()` there"
    return _cut(body, limit=limit)


async def _read(response: httpx.Response, body: bytearray, *, limit: int) -> str | None:
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101  # what an async transport promises to return
    encoding = header_of(response, "content-encoding")
    decoders, unknown = ([], None) if encoding is None else _decoders(encoding)
    try:
        reason = unknown or await _decode(stream, decoders, body, limit=limit)
        if reason is None and any(decoder.is_incomplete for decoder in decoders):
            reason = f"its {encoding} encoding breaks off"
        if reason is None and "network_stream" in response.extensions:
            await close_if_surplus(response)
    except BaseException:
        # Whatever ended the reading must not end the closing as well.
        with anyio.CancelScope(shield=True):
            await stream.aclose()
        raise
    await stream.aclose()
    return reason


def _decoders(encoding: str) -> tuple[list[Decoder], str | None]:
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    decoders = [decoder for name in names if (decoder := decoder_of(name)) is not None]
    known = len(decoders) == len(names)
    return decoders, None if known else f"it is encoded as {encoding[:40]!r}, which was not asked for"


async def _decode(
    stream: httpx.AsyncByteStream, decoders: Sequence[Decoder], body: bytearray, *, limit: int
) -> str | None:
    try:
        async for chunk in stream:
            if not decoders:
                body += chunk
                if (reason := _cut(body, limit=limit)) is not None:
                    return reason
                continue
            for piece in decoded(chunk, decoders):
                body += piece
                if (reason := _cut(body, limit=limit)) is not None:
                    return reason
    except BrokenEncodingError as error:
        return f"its {error} encoding is broken"
    return None


def _cut(body: bytearray, *, limit: int) -> str | None:
    if len(body) <= limit:
        return None
    del body[limit:]
    return f"it is larger than max_response_bytes, {limit} bytes"
