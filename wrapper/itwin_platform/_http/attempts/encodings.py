"""Content encodings, decoded in pieces: a small body that unpacks to a large one is noticed before it costs memory."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

#: The largest piece that a decoder returns, in bytes, where it can be limited.
PIECE = 65_536
#: A decoder whose output cannot be limited is given so many bytes of input at a time.
_SLICE = 256


class BrokenEncodingError(ValueError):
    """The body is not what its Content-Encoding says; the text names the encoding."""


class Decoder(Protocol):
    """Decodes one body."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode more of the body.

        Raises:
            BrokenEncodingError: the data is not in this encoding.
        """
        ...

    @property
    def is_incomplete(self) -> bool:
        """True when the body has begun and its end has not come."""
        ...


class _Zlib:
    """Decodes gzip, with any number of members and zeros after them, and deflate, with or without a zlib header."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._kept = b""
        self._has_begun = False
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16) if is_gzip else None

    def pieces(self, data: bytes) -> Iterator[bytes]:
        data, self._kept = self._kept + data, b""
        while data:
            if self._stream is not None and self._stream.eof:
                # Zeros after the end are padding: httpx and gzip ignore them.
                data = data.lstrip(b"\0")
            stream = self._stream_for(data)
            if stream is None:
                return
            try:
                yield stream.decompress(data, PIECE)
            except zlib.error as error:
                raise BrokenEncodingError("gzip" if self._is_gzip else "deflate") from error
            data = stream.unused_data if stream.eof else stream.unconsumed_tail
            self._has_begun = True

    def _stream_for(self, data: bytes) -> "zlib._Decompress | None":
        """Return what decodes the data; None when there is not enough of it."""
        if self._stream is None:
            self._stream = self._deflate(data)
        elif self._stream.eof and data:
            if not self._is_gzip:
                raise BrokenEncodingError("deflate")
            self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return self._stream if data else None

    def _deflate(self, data: bytes) -> "zlib._Decompress | None":
        if len(data) < 2:
            self._kept = data
            return None
        # Some services send deflate without the header that RFC 9110 asks for; httpx reads both.
        has_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)

    @property
    def is_incomplete(self) -> bool:
        return bool(self._kept) or (self._has_begun and self._stream is not None and not self._stream.eof)


class _Brotli:
    """Decodes br with either of the packages that httpx uses."""

    def __init__(self, brotli: Any) -> None:
        self._stream, self._error = brotli.Decompressor(), brotli.error
        self._process: Callable[..., bytes] = getattr(self._stream, "process", None) or self._stream.decompress
        self._has_begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._has_begun = self._has_begun or bool(data)
        is_limited = hasattr(self._stream, "can_accept_more_data")
        size, limit = (PIECE, {"output_buffer_limit": PIECE}) if is_limited else (_SLICE, {})
        try:
            for start in range(0, len(data), size):
                yield self._process(data[start : start + size], **limit)
                while is_limited and not self._stream.can_accept_more_data():
                    yield self._process(b"", **limit)
        except self._error as error:
            raise BrokenEncodingError("br") from error

    @property
    def is_incomplete(self) -> bool:
        return self._has_begun and not self._stream.is_finished()


class _Zstandard:
    """Decodes zstd, with any number of frames."""

    def __init__(self, zstandard: Any) -> None:
        self._open, self._error = zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
        self._frame: Any = None

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SLICE):
            left = data[start : start + _SLICE]
            while left:
                if self._frame is None or self._frame.eof:
                    self._frame = self._open()
                try:
                    yield self._frame.decompress(left)
                except self._error as error:
                    raise BrokenEncodingError("zstd") from error
                left = self._frame.unused_data if self._frame.eof else b""

    @property
    def is_incomplete(self) -> bool:
        return self._frame is not None and not self._frame.eof


#: What decodes these encodings, and the packages that do it, any one of which suffices.
_PACKAGES: dict[str, tuple[Callable[[Any], Decoder], tuple[str, ...]]] = {
    "br": (_Brotli, ("brotli", "brotlicffi")),
    "zstd": (_Zstandard, ("zstandard",)),
}


def decoder_of(encoding: str) -> Decoder | None:
    """Return a decoder for one content encoding that httpx may ask for; None when none is installed."""
    if encoding in ("gzip", "deflate"):
        return _Zlib(is_gzip=encoding == "gzip")
    if encoding in _PACKAGES:
        make, names = _PACKAGES[encoding]
        for name in names:
            with suppress(ImportError):
                return make(import_module(name))
    return None
