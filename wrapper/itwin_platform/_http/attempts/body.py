"""Read the body of a response, and count decoded bytes while they arrive."""

from collections.abc import Iterable, Sequence
from itertools import chain

import anyio

from ..._errors import ResponseDecodeError
from ..connections.failures import BROKEN_OFF, NOT_KEPT
from ..connections.lazy import BodyStream, ReadResponse, Response, header_of
from ..connections.surplus import close_if_surplus
from .encodings import BrokenEncodingError, Decoder, decoder_of

#: So many bytes of a body that is too large stay on the error.
KEPT_OF_TOO_LARGE = 65_536
#: A service applies one encoding, or two. Thousands in a header would take memory, and the stack, for a few bytes.
MOST_ENCODINGS = 5


async def read_body(response: Response, *, limit: int) -> Response:
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
        except BROKEN_OFF:
            if is_success:
                raise
            reason = None
    if reason is not None and is_success:
        kept = bytes(body[:KEPT_OF_TOO_LARGE])
        raise ResponseDecodeError(response.status_code, response.headers, kept, reason=reason)
    return ReadResponse(response, bytes(body))


async def _take(response: Response, body: bytearray, *, limit: int) -> str | None:
    """Take a body that was read already; httpx has decoded it."""
    if "network_stream" in response.extensions:
        await close_if_surplus(response.stream, response.extensions)
    await response.aclose()
    try:
        body += response.content
    except NOT_KEPT:
        return "an event hook or a transport has consumed its body without keeping it: read it with `aread()` there"
    return _cut(body, limit=limit)


async def _read(response: Response, body: bytearray, *, limit: int) -> str | None:
    stream = response.stream
    assert isinstance(stream, BodyStream)  # noqa: S101  # what an async transport promises to return
    encoding = header_of(response, "content-encoding")
    decoders, unknown = ([], None) if encoding is None else _decoders(encoding)
    try:
        reason = unknown or await _decode(stream, decoders, body, limit=limit)
        if reason is None and any(decoder.is_incomplete for decoder in decoders):
            reason = f"its {encoding} encoding breaks off"
        if reason is None and "network_stream" in response.extensions:
            await close_if_surplus(stream, response.extensions)
    except BaseException:
        # Whatever ended the reading must not end the closing as well.
        with anyio.CancelScope(shield=True):
            await stream.aclose()
        raise
    await stream.aclose()
    return reason


def _decoders(encoding: str) -> tuple[list[Decoder], str | None]:
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    decoders = [decoder for name in names[:MOST_ENCODINGS] if (decoder := decoder_of(name)) is not None]
    known = len(decoders) == len(names)
    return decoders, None if known else f"it is encoded as {encoding[:40]!r}, which was not asked for"


async def _decode(stream: BodyStream, decoders: Sequence[Decoder], body: bytearray, *, limit: int) -> str | None:
    try:
        async for chunk in stream:
            pieces: Iterable[bytes] = (chunk,)
            for decoder in reversed(decoders):
                pieces = chain.from_iterable(map(decoder.pieces, pieces))
            for piece in pieces:
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
