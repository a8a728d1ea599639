"""Read the body of a response as it comes, and decode what was read, each within a limit."""

import zlib

import anyio

from ..._errors import ResponseDecodeError
from ..connections.given_client import close_if_surplus
from ..connections.messages import BROKEN_OFF, NOT_KEPT, BodyStream, Headers, ReadBody, Response

#: So many bytes of a body that is too large stay on the error.
KEPT_OF_TOO_LARGE = 65_536
#: A service applies one encoding, or two. Thousands in a header would take time for a few bytes.
MOST_ENCODINGS = 5


async def read_body(response: Response, *, limit: int) -> Response:
    """Read a response to its end, as it comes, give its connection back, and return it with the body at hand.

    A response that an event hook or a transport has read already, and thereby decoded, is used as it is.

    Args:
        response: a response as a transport returns it.
        limit: the largest body, in bytes, before it is decoded.

    Raises:
        ResponseDecodeError: a success that is larger. An error response is never replaced by this: its body is kept as
            far as it could be read.
        httpx.RequestError: the body of a success broke off.
    """
    pieces: list[bytes] = []
    reason, is_success, was_read = None, response.status_code < 300, response.is_stream_consumed
    try:
        await _collect(response, pieces, limit=limit)
    except BROKEN_OFF:
        if is_success:
            raise
    except NOT_KEPT:
        reason = "an event hook or a transport has consumed its body without keeping it: read it with `aread()` there"
    # One copy of a large body, and none of one that came at once.
    body = b"".join(pieces)
    if len(body) > limit:
        reason, body = _too_large(limit), body[:limit]
    if reason is not None and is_success:
        raise ResponseDecodeError(response.status_code, response.headers, body[:KEPT_OF_TOO_LARGE], reason=reason)
    if was_read:
        headers, stream = without_encoding(response), ReadBody(body)
        return Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)
    response.stream = ReadBody(body)
    return response


def received_body(response: Response) -> bytes:
    """Return the body that `read_body` has read, not decoded."""
    assert isinstance(response.stream, ReadBody)  # noqa: S101  # what `read_body` leaves
    return b"".join(response.stream)


async def _collect(response: Response, pieces: list[bytes], *, limit: int) -> None:
    """Read a body to its end, or until it is too large; one that was read already is as httpx has decoded it."""
    stream, network, size = response.stream, response.extensions.get("network_stream"), 0
    assert isinstance(stream, BodyStream)  # noqa: S101  # what an async transport promises to return
    try:
        if not response.is_stream_consumed:
            async for chunk in stream:
                pieces.append(chunk)
                size += len(chunk)
                if size > limit:
                    break
        if size <= limit and network is not None and not getattr(network, "sees_surplus", False):
            await close_if_surplus(stream, response.extensions)
        if response.is_stream_consumed:
            pieces.append(response.content)
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
    body, encoding = received_body(response), response.headers.get("content-encoding")
    if encoding is None or not body:
        return body, None
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    if len(names) > MOST_ENCODINGS or not {"gzip", "deflate"}.issuperset(names):
        return b"", f"it is encoded as {encoding[:40]!r}, which was not asked for"
    reason = None
    for name in reversed(names):
        body, fault = _inflated(body, name, limit=limit)
        reason = reason or fault
    return body, reason


def without_encoding(response: Response) -> Headers:
    """Return the headers of a response for its body once that is decoded."""
    if "content-encoding" not in response.headers:
        return response.headers
    headers = response.headers.copy()
    del headers["content-encoding"]
    headers.pop("content-length", None)
    return headers


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
