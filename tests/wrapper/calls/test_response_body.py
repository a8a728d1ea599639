"""Decoding a response: the limit counts decoded bytes, and an invalid encoding is an error."""

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterable

import httpx
import pytest
from itwin_platform._requests.sender import DecodedResponse
from itwin_platform_transport import AccessToken, BackoffPolicy, CallInfo, CallResult, Request, ResponseDecodeError
from itwin_platform_transport.attempts.results import KEPT_OF_TOO_LARGE
from itwin_platform_transport.connections.messages import Sending, send_through
from itwin_platform_transport.policy import ONE_RESPONSE

MOST = 1_000_000


class Chunks(httpx.AsyncByteStream):
    """A body in chunks, as from a connection."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    async def aclose(self) -> None:
        """Record it."""
        self.closed = True


def head(chunks: Iterable[bytes], *, status: int = 200, encoding: str | None = None) -> httpx.Response:
    """Return a response whose body is not read yet."""
    headers = {"x-correlation-id": "c-1"} | ({} if encoding is None else {"content-encoding": encoding})
    return httpx.Response(status, headers=headers, stream=Chunks(chunks))


async def decoded(response: httpx.Response, *, limit: int) -> DecodedResponse:
    """Read a response as an attempt does, and decode it as the platform does."""
    request = await Request.of(httpx.Request("GET", "https://service.example"))
    received = await send_through(httpx.MockTransport(lambda _: response), request, Sending())
    await received.read(limit=limit)
    result = CallResult(received, ONE_RESPONSE, 0.0, None, None, None, AccessToken("planted-token"))
    complete = DecodedResponse(CallInfo("GET", "/", BackoffPolicy()), result, limit, request)
    if complete.fault is not None and received.status_code < 300:
        raise complete.decode_error(complete.fault)
    return complete


def cut(data: bytes, size: int) -> list[bytes]:
    """Return data in chunks."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def raw_deflated(data: bytes) -> bytes:
    """Deflate data without the header of zlib, behind an empty block with the checksum of such a header."""
    return b"\0\0\0\xff\xff" + zlib.compress(data, wbits=-zlib.MAX_WBITS)


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        *((name, bytes) for name in (None, "identity", "")),
        *((name, gzip.compress) for name in ("gzip", "GZIP ")),
        ("gzip", lambda data: gzip.compress(data[:1000]) + gzip.compress(b"") + gzip.compress(data[1000:]) + bytes(9)),
        *(("deflate", deflate) for deflate in (zlib.compress, raw_deflated)),
        ("deflate, gzip", lambda data: gzip.compress(b"\x08" + raw_deflated(data)[1:])),
        *((name, bytes) for name in ("utf-8", "none", "binary", "UTF8", "x-gzip", "chunked, identity", "br")),
        *((name, gzip.compress) for name in ("x-gzip", "utf-8, gzip", "gzip, none")),
    ],
)
async def test_a_body_may_be_as_large_as_the_limit_and_no_larger(
    encoding: str | None, encode: Callable[[bytes], bytes]
) -> None:
    """The limit counts decoded bytes. A larger response is rejected, and the error keeps the beginning."""
    text = (bytes(index * index % 251 for index in range(251)) * (MOST // 251 + 1))[: MOST + 1]
    assert (await decoded(head(cut(encode(text[:-1]), 65_536), encoding=encoding), limit=MOST)).content == text[:-1]
    response = head(cut(encode(text), 65_536), encoding=encoding)
    chunks = response.stream
    with pytest.raises(ResponseDecodeError, match=r"larger than max_response_bytes, 1000000 bytes.*id c-1") as raised:
        await decoded(response, limit=MOST)
    assert raised.value.body == text[:KEPT_OF_TOO_LARGE]
    assert isinstance(chunks, Chunks)
    assert chunks.closed


async def test_a_token_at_the_cut_is_redacted() -> None:
    """The error of a body that breaks off keeps the beginning, and no part of a token at its end."""
    body = gzip.compress(b"x" * (KEPT_OF_TOO_LARGE - 6) + b"planted-token")
    with pytest.raises(ResponseDecodeError, match="breaks off") as raised:
        await decoded(head([body[:-8]], encoding="gzip"), limit=MOST)
    assert raised.value.body.endswith(b"x[redac")


BOMB = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
#: 40 MB of zeros, compressed once and twice.
BOMBS = {"gzip": b"".join([BOMB.compress(bytes(1_000_000)) for _ in range(40)]) + BOMB.flush()}
BOMBS["gzip, gzip"] = gzip.compress(BOMBS["gzip"])


@pytest.mark.parametrize("encoding", BOMBS)
async def test_a_bomb_takes_little_memory(encoding: str) -> None:
    """A body of 40 MB takes at most three times the limit of 2 MB."""
    most, body = 2 * 1024 * 1024, BOMBS[encoding]
    tracemalloc.start()
    try:
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes"):
            await decoded(head(cut(body, 1_000), encoding=encoding), limit=most)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(body) < 50_000
    assert peak <= 3 * most


WHOLE, DEFLATED = gzip.compress(b'{"a": 1}' * 100, mtime=0), zlib.compress(b"{}")
ENCODED = {"content-encoding": "gzip", "content-length": str(len(WHOLE))}


@pytest.mark.parametrize(
    ("chunks", "encoding", "reason"),
    [
        ([WHOLE[:-4]], "gzip", "its gzip encoding breaks off"),
        *((chunks, "gzip", "its gzip encoding is broken") for chunks in ([DEFLATED], [WHOLE, b"xxxx"])),
        *(([DEFLATED, rest], "deflate", "its deflate encoding is broken") for rest in (b"more", bytes(9), DEFLATED)),
        ([DEFLATED[:1]], "deflate", "its deflate encoding breaks off"),
        ([b"(\xb5/\xfd"], "gzip, zstd", "its gzip encoding is broken: it is encoded as 'zstd', which was not asked"),
        ([WHOLE[:5]], "x-gzip", "its gzip encoding breaks off"),
        ([WHOLE], "gzip, " * 5, "its gzip encoding is broken"),
        ([WHOLE], "gzip, " * 6, "it is encoded 6 times, which was not asked for"),
    ],
)
async def test_an_invalid_encoding_is_reported(chunks: list[bytes], encoding: str, reason: str) -> None:
    """A success is rejected with the reason. An error response keeps its status, without the unreadable part."""
    with pytest.raises(ResponseDecodeError) as raised:
        await decoded(head(chunks, encoding=encoding), limit=MOST)
    assert reason in str(raised.value)
    assert b"x" not in raised.value.body
    assert (await decoded(head(chunks, encoding=encoding, status=422), limit=MOST)).status_code == 422


async def test_identity_is_no_encoding() -> None:
    """A body that is not encoded has no Content-Encoding, also if the service says so."""
    assert "content-encoding" not in (await decoded(head([b"{}"], encoding=", identity"), limit=MOST)).headers


@pytest.mark.parametrize("encoding", ["br, zstd", "compress", "UTF-8", "gzip;q=1", "x" * 41])
async def test_an_unknown_encoding_is_named_if_the_body_is_not_json(encoding: str) -> None:
    """The encoding was ignored, which may be the reason; its header stays, so that the caller can decode the body."""
    complete = await decoded(head([b"\x8b\x00\x80{}\x03"], encoding=encoding), limit=MOST)
    error = complete.decode_error("the body is not JSON")
    assert f"the body is not JSON: it is encoded as {encoding[:40]!r}, which was not asked for" in str(error)
    assert f": it is encoded as {encoding[:40]!r}" in str(complete.decode_error(None))
    assert (complete.content, complete.headers["content-encoding"]) == (b"\x8b\x00\x80{}\x03", encoding)
    readable = await decoded(head([b"[]"], encoding=encoding), limit=MOST)
    assert "encoded" not in str(readable.decode_error("an object was expected"))


@pytest.mark.parametrize("rest", [b"trailing", WHOLE[:30]], ids=["trailing", "half"])
async def test_the_decoded_beginning_of_an_error_is_kept(rest: bytes) -> None:
    """An error response keeps the bytes before the place where its encoding is invalid."""
    error = await decoded(head([WHOLE, WHOLE, rest], encoding="gzip", status=422), limit=MOST)
    assert error.content.startswith(b'{"a": 1}' * 200)
    assert b"x" not in error.content


async def test_a_response_without_a_body_may_name_an_encoding() -> None:
    """An empty body is no encoding that breaks off."""
    assert (await decoded(head([], status=204, encoding="gzip"), limit=MOST)).content == b""
