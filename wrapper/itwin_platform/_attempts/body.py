"""Reads the body of an answer, counting decoded bytes while they arrive."""

import zlib
from collections.abc import Iterator
from typing import Any

import anyio
import httpx

from .._errors import ResponseDecodeError
from .._json import read_json

#: So much of a body that is too large stays on the error.
KEPT_OF_TOO_LARGE = 65_536
#: A body is decoded in pieces of at most so many bytes, so that a small one that unpacks to a large one costs little.
PIECE = 65_536


class ReadResponse(httpx.Response):
    """An answer whose body is there, decoded. Its headers are those of the answer, less what told the encoding."""

    def __init__(self, answer: httpx.Response, body: bytes) -> None:
        headers = answer.headers
        if "content-encoding" in headers:
            headers = headers.copy()
            del headers["content-encoding"]
            headers.pop("content-length", None)
        # As a stream that is read already: httpx would decode and join what is given as its content.
        super().__init__(
            answer.status_code, headers=headers, stream=httpx.ByteStream(body), extensions=answer.extensions
        )
        self._body = body

    @property
    def content(self) -> bytes:
        """The decoded body."""
        return self._body

    def json(self, **arguments: Any) -> Any:
        """Reads the body as JSON, by the quickest reader that is installed where nothing else is asked for."""
        return super().json(**arguments) if arguments else read_json(self.content)


class _Gzip:
    """Decodes gzip chunk by chunk, and gives it in pieces."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._begun = self._begun or bool(data)
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            yield self._member.decompress(data, PIECE)
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    @property
    def breaks_off(self) -> bool:
        return self._begun and not self._member.eof


async def read_answer(response: httpx.Response, *, most: int) -> httpx.Response:
    """Reads an answer to its end and returns it with its body decoded, its connection given back.

    Args:
        response: an answer as a transport gives it, not read yet.
        most: the most decoded bytes that are taken.

    Raises:
        ResponseDecodeError: a success that is larger, or encoded otherwise than asked for. A refusal is never
            replaced by this: its body is kept as far as it could be read.
        httpx.RequestError: the body of a success broke off.
    """
    body = bytearray()
    reason: str | None = None
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101  # what an async transport promises to give
    try:
        try:
            reason = await _read(stream, response.headers.get("content-encoding"), body, most=most)
        except BaseException:
            # Whatever ended the reading must not end the closing as well.
            with anyio.CancelScope(shield=True):
                await stream.aclose()
            raise
        await stream.aclose()
    except (httpx.RequestError, OSError):
        if response.status_code < 300:
            raise
    if reason is not None and response.status_code < 300:
        kept = bytes(body[:KEPT_OF_TOO_LARGE])
        raise ResponseDecodeError(response.status_code, response.headers, kept, reason=reason)
    return ReadResponse(response, bytes(body))


async def _read(stream: httpx.AsyncByteStream, encoded_as: str | None, body: bytearray, *, most: int) -> str | None:
    encoding = (encoded_as or "identity").strip().lower() or "identity"
    if encoding not in ("identity", "gzip"):
        return f"it is encoded as {encoding[:40]!r}, which was not asked for"
    gzip = _Gzip() if encoding == "gzip" else None
    try:
        async for chunk in stream:
            for piece in (chunk,) if gzip is None else gzip.pieces(chunk):
                body += piece
                if len(body) > most:
                    del body[most:]
                    return f"it is larger than max_response_bytes, {most} bytes"
    except zlib.error:
        return "its gzip encoding is broken"
    return "its gzip encoding breaks off" if gzip is not None and gzip.breaks_off else None
