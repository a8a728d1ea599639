"""Encoding for the wire: JSON values, and strings for queries and headers."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from enum import Enum
from operator import index
from typing import Any, SupportsIndex
from uuid import UUID

from .unset import UNSET

#: Types that JSON has as they are. They are checked first, because nearly every value has one of them.
PLAIN = frozenset({str, int, float, bool, type(None)})


class Fields(dict[str, Any]):
    """The fields of a model by their names in JSON, which tells them from a mapping of the caller.

    Their values may be secrets, so only the names show in `repr`. `model` is the name of a complete object's model.
    """

    __slots__ = ("model",)

    def __repr__(self) -> str:
        return f"Fields({', '.join(map(str, self))})"


def fields_of(value: Any) -> Any:
    """Return a model as its fields, also those in a list; all other values as they are."""
    if hasattr(value, "wire_fields"):
        return value.wire_fields()
    if type(value) is not list:
        return value
    return [item.wire_fields() if hasattr(item, "wire_fields") else item for item in value]


def encode_scalar(value: Any) -> Any:
    """Encode an enum member, a time, a date, a UUID or an integer of another library; others stay as they are."""
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, datetime):
        return encode_datetime(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else as_integer(value)


def as_integer(value: Any) -> Any:
    """Return an integer of another library, such as numpy, as an int; return any other value as it is."""
    if type(value) in PLAIN or not isinstance(value, SupportsIndex):
        return value
    try:
        return index(value)
    except TypeError:  # An array has the method too.
        return value


def class_name(value: object) -> str:
    """Return the name of the class of a value, with its module: numpy has a class `bool` too."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def encode_datetime(value: datetime) -> str:
    """Encode a time in UTC with milliseconds and `Z`. A time without a zone is in UTC, as when it is decoded."""
    try:
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # At the ends of the calendar a time may have no form in UTC.
        return value.isoformat(timespec="milliseconds")
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def encode(value: Any, *, scalar: Callable[[Any], Any] = encode_scalar) -> Any:
    """Encode a value for JSON: models as objects, enums and UUIDs as strings, times as `YYYY-MM-DDTHH:mm:ss.sssZ`.

    Args:
        value: what to encode.
        scalar: encodes all that is neither a model nor a mapping nor a list, nor JSON already.
    """
    try:
        return _encode(value, scalar)
    except RecursionError:
        # A response may be nested more deeply than Python functions can be.
        return copy_values(value, scalar=scalar)


def _encode(value: Any, scalar: Callable[[Any], Any]) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else _encode(item, scalar) for item in value]
    # A plain dict is checked first: `isinstance(value, Mapping)` takes ten times as long.
    if kind is not dict and hasattr(value, "wire_fields"):
        value = value.wire_fields()
    elif kind is not dict and not isinstance(value, Mapping):
        return scalar(value)
    return {
        key: item if type(item) in PLAIN else _encode(item, scalar) for key, item in value.items() if item is not UNSET
    }


def copy_values(value: Any, *, scalar: Callable[[Any], Any], name: Callable[[Any], Any] | None = None) -> Any:
    """Copy a value of models, mappings and lists, nested as deeply as memory allows.

    Args:
        value: what to copy.
        scalar: makes the copy of all that is neither a model nor a mapping nor a list.
        name: makes the copy of the key of a mapping; the key itself by default.
    """
    root = [value]
    unfinished: list[Any] = [root]
    # A value that contains itself becomes a copy that contains itself.
    copies: dict[int, tuple[Any, Any]] = {}
    for parts in unfinished:
        for key, item in parts.items() if type(parts) is dict else enumerate(parts):
            if id(item) not in copies:
                copy = _parts_of(item, name)
                if copy is None:
                    parts[key] = scalar(item)
                    continue
                copies[id(item)] = item, copy
                unfinished.append(copy)
            parts[key] = copies[id(item)][1]
    return root[0]


def _parts_of(value: Any, name: Callable[[Any], Any] | None) -> dict[Any, Any] | list[Any] | None:
    if isinstance(value, (list, tuple)):
        return [*value]
    fields = value.wire_fields() if hasattr(value, "wire_fields") else value
    if not isinstance(fields, Mapping):
        return None
    return {key if name is None else name(key): item for key, item in fields.items() if item is not UNSET}


def encode_string(value: Any) -> str:
    """Encode a value for a query or a header: a list joined by commas, true and false in lower case."""
    encoded = value if type(value) is str else encode(value)
    if isinstance(encoded, bool):
        return "true" if encoded else "false"
    if isinstance(encoded, list):
        return ",".join(encode_string(item) for item in encoded)
    return str(encoded)


def encode_parameters(values: Mapping[str, Any]) -> dict[str, str]:
    """Encode query parameters or headers. One that is UNSET or None is omitted."""
    return {name: encode_string(value) for name, value in values.items() if value is not UNSET and value is not None}
