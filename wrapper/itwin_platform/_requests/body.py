"""The bodies of requests and responses: JSON, and the encodings of a response."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs
from itwin_platform_api.encoding import class_name, encode, encode_scalar, fields_of
from itwin_platform_api.unset import UNSET
from itwin_platform_transport import Response, UsageError

#: A null that may be outside a string: after a colon, a comma or a bracket. The word comes first: it is fast to find.
_NULL = re.compile(rb"null(?<=[:,\[]null)")
#: The reason in the error of a value without a form in JSON, and the number of levels to search for its place.
_REASONS: Mapping[type[Exception], tuple[str, int]] = {
    UnicodeEncodeError: ("a string must not hold a lone surrogate", 20),
    RecursionError: ("it is nested too deeply, or holds itself", 2),
}
#: Fewest characters of a secret that is redacted: a shorter one may be part of an ordinary word.
_SHORTEST_REDACTED = 8
#: Most encodings of one body. Services apply one or two; thousands in a header would only take time.
MOST_ENCODINGS = 5
_DECODED = frozenset({"gzip", "deflate"})
#: The prefix of the old name of gzip, `x-gzip`. Source: RFC 9110, section 8.4.1.3.
_OLD = "x-"
_GZIP_BEGINNING = b"\x1f\x8b"


def write_json(body: object, *, given: object = UNSET, name: str = "") -> bytes:
    """Serialize a body: JSON values, with models, enums and times anywhere in it.

    Args:
        body: the body.
        given: the body as the caller passed it, if `body` is a copy.
        name: the argument; empty if the fields of the body are the arguments.

    Raises:
        UsageError: A value has no form in JSON, such as NaN, a set or a lone surrogate.
    """
    values = fields_of(body)
    try:
        return _written_by_msgspec(values) or _written_in_full(values)
    except (TypeError, ValueError, RecursionError) as error:
        reason, depth = _REASONS.get(type(error), (str(error), 20))
    place = next(_faults(body if given is UNSET else given, name, depth), name)
    raise UsageError(f"{place or 'the body'} cannot be serialized as JSON: {reason}", argument=place or None)


def _written_by_msgspec(values: object) -> bytes | None:
    """Serialize values with msgspec; return None if it would change one.

    msgspec writes a set as a list, a time in another form, the Python names of a model, and NaN as null. The values
    that it converts or parses then differ from the given ones.
    """
    import msgspec

    try:
        serialized = msgspec.json.encode(values)
        written = msgspec.json.decode(serialized) if _NULL.search(serialized) else msgspec.to_builtins(values)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return serialized if written == values else None


def _written_in_full(values: object) -> bytes:
    encoded = encode(values, scalar=_encoded_scalar)
    text = json.dumps(encoded, ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"))
    return text.encode()


def _encoded_scalar(value: object) -> object:
    """Encode a value that is no JSON value.

    Raises:
        ValueError: It is a time without a zone.
        TypeError: JSON has no form for its class.
    """
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise ValueError("a datetime must be aware, such as datetime.now(timezone.utc)")
    encoded = encode_scalar(value)
    if encoded is value and not isinstance(value, str | int | float):
        raise TypeError(f"JSON has no {class_name(value)}: convert it to a str, int, float, bool, list or dict")
    return encoded


def _faults(value: Any, place: str, depth: int) -> Iterator[str]:
    """Yield the places of values without a form in JSON: an argument, with the property or item inside it."""
    for key, item in _parts(value) if depth else ():
        # The name of a model with one field is omitted: `objects` is the argument, `scene_data` only wraps it.
        is_field = attrs.has(type(item)) and len([*_parts(item)]) == 1
        name = f"[{key}]" if isinstance(key, int) else "" if is_field else f".{key}" if place else key
        yield from _faults(item, place + name, depth - 1)
    try:
        _written_in_full(value)
    except (TypeError, ValueError, RecursionError):
        yield place


def _parts(value: Any) -> Iterator[tuple[str | int, object]]:
    """Return the fields of a model, the items of a list, or the items of a mapping with printable keys."""
    if attrs.has(type(value)):
        value = {each.name.removesuffix("_"): getattr(value, each.name) for each in attrs.fields(type(value))}
        value |= value.pop("additional_properties")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and key.isprintable() and item is not UNSET:
                yield key, item
    elif isinstance(value, (list, tuple)):
        yield from enumerate(value)


def read_json(body: bytes) -> object:
    """Deserialize a body.

    Raises:
        ValueError: The body is not JSON.
        RecursionError: It is nested too deeply.
    """
    from msgspec.json import decode

    try:
        return decode(body)
    except ValueError:
        # The standard library reads NaN, 1e400 and a lone surrogate, which msgspec rejects.
        return json.loads(body)


def spelled_secrets(content: bytes) -> list[str]:
    """Return the secrets in the body of a request, as text and as JSON spells them, the longest first.

    The longest come first because a user name may be the beginning of the password.
    """
    try:
        body = read_json(content)
    except (ValueError, RecursionError):  # a body that the caller wrote
        return []
    from itwin_platform_api.models import RepositoryUpdate, WebhookUpdate

    # Each of these names is one word, so a field has the same name in JSON.
    names = RepositoryUpdate.SECRETS | WebhookUpdate.SECRETS
    values = [item for name, item in body.items() if name in names] if isinstance(body, dict) else []
    spellings: set[str] = set()
    for value in values:
        if isinstance(value, dict | list):
            values += [item for key, item in _parts(value) if key != "type"]
        elif isinstance(value, str) and len(value) >= _SHORTEST_REDACTED:
            spellings |= {value, *(json.dumps(value, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))}
    return sorted(spellings, key=len, reverse=True)


def decoded_body(response: Response, *, limit: int) -> tuple[bytes, str | None]:
    """Decode a body: gzip and deflate, so that a small body cannot become a huge one.

    Other encodings are ignored, as in httpx and requests: some services write a character set in this header.

    Args:
        response: a response that was read.
        limit: the largest decoded body, in bytes.

    Returns:
        The body, and the reason why it cannot be used, or None. With a reason, the body is the decoded beginning.
    """
    body = response.content
    names = [name.lower() for name in _encodings(response.raw_headers) if _is_decoded(name)]
    if response.fault is not None or not names or not body:
        return body, response.fault
    if len(names) > MOST_ENCODINGS:
        return b"", f"it is encoded {len(names)} times, which was not asked for"
    reason = None
    for name in reversed(names):
        # Some servers write the old name on a body that is not compressed.
        if name.startswith(_OLD) and not body.startswith(_GZIP_BEGINNING):
            continue
        body, fault = _inflated(body, name.removeprefix(_OLD), limit=limit)
        reason = reason or fault
    return body, reason


def _encodings(headers: Sequence[tuple[bytes, bytes]]) -> list[str]:
    found = b",".join([value for name, value in headers if name.lower() == b"content-encoding"])
    names = found.decode("latin-1").split(",") if found else ()
    return [name for part in names if (name := part.strip()).lower() not in ("", "identity")]


def remaining_encodings(response: Response) -> list[str]:
    """Return the names of the encodings that the body still has."""
    return [name for name in _encodings(response.raw_headers) if not _is_decoded(name)]


def _is_decoded(name: str) -> bool:
    return name.lower().removeprefix(_OLD) in _DECODED


def is_json(body: bytes) -> bool:
    """Return whether a body is JSON."""
    try:
        read_json(body)
    except (ValueError, RecursionError):
        return False
    return True


def _inflated(data: bytes, name: str, *, limit: int) -> tuple[bytes, str | None]:
    """Decode gzip, with any number of members and zeros after them, or deflate, with or without a zlib header."""
    is_gzip, pieces, remaining = name == "gzip", list[bytes](), limit
    while data:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16 if is_gzip else _window_of(data))
        try:
            piece = stream.decompress(data, remaining + 1)
        except zlib.error:
            return b"".join(pieces), f"its {name} encoding is broken"
        pieces.append(piece[:remaining] if len(piece) > remaining else piece)
        if len(piece) > remaining:
            return b"".join(pieces), f"it is larger than max_response_bytes, {limit} bytes"
        if not stream.eof:
            return b"".join(pieces), f"its {name} encoding breaks off"
        remaining -= len(piece)
        # Zeros after the end of gzip are padding: httpx and gzip ignore them.
        data = stream.unused_data.lstrip(b"\0") if is_gzip else stream.unused_data
        if data and not is_gzip:
            return b"".join(pieces), "its deflate encoding is broken"
    return b"".join(pieces), None


def _window_of(data: bytes) -> int:
    # Some services send deflate without the header that RFC 9110 asks for; httpx reads both.
    has_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
