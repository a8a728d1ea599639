"""Encoding of requests: JSON values, and strings for queries and headers."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from enum import Enum
from operator import index
from typing import Any, SupportsIndex
from uuid import UUID

from .unset import UNSET

#: The types of values that need no encoding. They are checked first, because most values have one of them.
PLAIN = frozenset({str, int, float, bool, type(None)})


class Fields(dict[str, Any]):
    """The fields of a model by their names in JSON; a class of its own, to distinguish them from the caller's mapping.

    `repr` shows the names only, because values may be secrets. `model` is the name of the model of a complete object.
    """

    __slots__ = ("model",)

    def __repr__(self) -> str:
        return f"Fields({', '.join(map(str, self))})"


class Encodable:
    """The base class of all models."""

    __slots__ = ()

    wire_fields: Callable[[], dict[str, Any]]


def fields_of(value: Any) -> Any:
    """Return the fields of a model, or a list with the fields of its models; return any other value unchanged."""
    if isinstance(value, Encodable):
        return value.wire_fields()
    if type(value) is not list:
        return value
    return [item.wire_fields() if isinstance(item, Encodable) else item for item in value]


def encode_scalar(value: Any) -> Any:
    """Encode an enum member, a time, a date, a UUID or an integer of another library; return other values unchanged."""
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, datetime):
        return encode_datetime(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else as_integer(value)


def as_integer(value: Any) -> Any:
    """Return an integer of another library, such as numpy, as an int; return any other value unchanged."""
    if type(value) in PLAIN or not isinstance(value, SupportsIndex):
        return value
    try:
        return index(value)
    except TypeError:  # a numpy array has `__index__` too
        return value


def class_name(value: object) -> str:
    """Return the name of the class of a value with its module, because numpy has a class `bool` too."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def encode_datetime(value: datetime) -> str:
    """Encode a time in UTC with milliseconds and `Z`. A time without a time zone is taken as UTC, as in decoding."""
    try:
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # the conversion to UTC leaves the years 1 to 9999
        return value.isoformat(timespec="milliseconds")
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def encode(value: Any, *, scalar: Callable[[Any], Any] = encode_scalar) -> Any:
    """Encode a value for JSON: models as objects, enums and UUIDs as strings, times as `YYYY-MM-DDTHH:mm:ss.sssZ`.

    Args:
        value: a model, a mapping, a list or a scalar.
        scalar: encodes a value that is not a model, a mapping, a list or a value of JSON.
    """
    try:
        return _encode(value, scalar)
    except RecursionError:
        # A response may be nested more deeply than Python's recursion limit.
        return copy_values(value, scalar=scalar)


def _encode(value: Any, scalar: Callable[[Any], Any]) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else _encode(item, scalar) for item in value]
    if kind is not dict and isinstance(value, Encodable):
        value = value.wire_fields()
    elif kind is not dict and not isinstance(value, Mapping):
        return scalar(value)
    return {
        key: item if type(item) in PLAIN else _encode(item, scalar) for key, item in value.items() if item is not UNSET
    }


def copy_values(value: Any, *, scalar: Callable[[Any], Any], name: Callable[[Any], Any] | None = None) -> Any:
    """Copy a value of models, mappings and lists without recursion, so that its depth has no limit.

    Args:
        value: a model, a mapping, a list or a scalar.
        scalar: copies a value that is not a model, a mapping or a list.
        name: copies the key of a mapping; by default, keys are used unchanged.
    """
    root = [value]
    unfinished: list[Any] = [root]
    # Each value and its copy by the id of the value, so that the copy of a cyclic value is cyclic.
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
    fields = value.wire_fields() if isinstance(value, Encodable) else value
    if not isinstance(fields, Mapping):
        return None
    return {key if name is None else name(key): item for key, item in fields.items() if item is not UNSET}


def encode_string(value: Any) -> str:
    """Encode a value for a query or a header: a list joined by commas, true and false in lower case."""
    if type(value) is str:
        return value
    encoded = encode(value)
    if isinstance(encoded, bool):
        return "true" if encoded else "false"
    if isinstance(encoded, list):
        return ",".join(encode_string(item) for item in encoded)
    return str(encoded)


def encode_parameters(values: Mapping[str, Any]) -> dict[str, str]:
    """Encode query parameters or headers, and omit those with the value UNSET or None."""
    return {name: encode_string(value) for name, value in values.items() if value is not UNSET and value is not None}
