"""Read the body of a response as it comes, and decode what was read, each within a limit."""

import zlib

import anyio

from ..connections.given_client import close_if_surplus
from ..connections.messages import BROKEN_OFF, BodyStream, RawHeaders, Response

#: So many bytes of a body that is too large stay on the error.
KEPT_OF_TOO_LARGE = 65_536
#: A service applies one encoding, or two. Thousands in a header would take time for a few bytes.
MOST_ENCODINGS = 5


async def read_body(response: Response, *, limit: int) -> None:
    """Read the body of a response to its end, as it comes, and give its connection back.

    Of a body that is too large, and of an error response whose body breaks off, the beginning is kept.

    Args:
        response: a response whose head has come.
        limit: the largest body, in bytes, before it is decoded.

    Raises:
        httpx.RequestError: the body of a success broke off.
    """
    if response.stream is not None:
        pieces: list[bytes] = []
        try:
            await _collect(response, response.stream, pieces, limit=limit)
        except BROKEN_OFF:
            if response.status_code < 300:
                raise
        if not response.is_read:
            # One copy of a large body, and none of one that came at once.
            response.content = b"".join(pieces)
        response.stream = None
    if len(response.content) > limit:
        response.fault, response.content = _too_large(limit), response.content[:limit]


async def _collect(response: Response, stream: BodyStream, pieces: list[bytes], *, limit: int) -> None:
    """Read a body to its end, or until it is too large."""
    network, size = response.extensions.get("network_stream"), 0
    try:
        if not response.is_read:
            async for chunk in stream:
                pieces.append(chunk)
                size += len(chunk)
                if size > limit:
                    break
        if size <= limit and network is not None and not getattr(network, "sees_surplus", False):
            await close_if_surplus(stream, response.extensions)
    except BaseException:
        # Whatever ended the reading must not end the closing as well.
        with anyio.CancelScope(shield=True):
            await stream.aclose()
        raise
    await stream.aclose()


def _too_large(limit: int) -> str:
    return f"it is larger than max_response_bytes, {limit} bytes"


def decoded_body(response: Response, *, limit: int) -> tuple[bytes, str | None]:
    """Decode the body that `read_body` has read: gzip and deflate, so that a small body cannot become a huge one.

    Args:
        response: a response that was read.
        limit: the largest decoded body, in bytes.

    Returns:
        The body, and why it cannot be used: None when it can. Then it is what could be decoded.
    """
    body, names = response.content, _encodings(response.raw_headers)
    if response.fault is not None or not names or not body:
        return body, response.fault
    if len(names) > MOST_ENCODINGS or not {"gzip", "deflate"}.issuperset(names):
        return b"", f"it is encoded as {', '.join(names)[:40]!r}, which was not asked for"
    reason = None
    for name in reversed(names):
        body, fault = _inflated(body, name, limit=limit)
        reason = reason or fault
    return body, reason


def _encodings(headers: RawHeaders) -> list[str]:
    found = [value for name, value in headers if name.lower() == b"content-encoding"]
    names = [part.strip() for value in found for part in value.decode("latin-1").lower().split(",")]
    return [name for name in names if name not in ("", "identity")]


def _inflated(data: bytes, name: str, *, limit: int) -> tuple[bytes, str | None]:
    """Decode gzip, with any number of members and zeros after them, or deflate, with or without a zlib header."""
    is_gzip, pieces, room = name == "gzip", list[bytes](), limit
    while data:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16 if is_gzip else _window_of(data))
        try:
            piece = stream.decompress(data, room + 1)
        except zlib.error:
            return b"".join(pieces), f"its {name} encoding is broken"
        pieces.append(piece[:room] if len(piece) > room else piece)
        if len(piece) > room:
            return b"".join(pieces), _too_large(limit)
        if not stream.eof:
            return b"".join(pieces), f"its {name} encoding breaks off"
        room -= len(piece)
        # Zeros after the end of gzip are padding: httpx and gzip ignore them.
        data = stream.unused_data.lstrip(b"\0") if is_gzip else stream.unused_data
        if data and not is_gzip:
            return b"".join(pieces), "its deflate encoding is broken"
    return b"".join(pieces), None


def _window_of(data: bytes) -> int:
    # Some services send deflate without the header that RFC 9110 asks for; httpx reads both.
    has_header = data[0] & 0x0F == 8 and (len(data) == 1 or int.from_bytes(data[:2], "big") % 31 == 0)
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
