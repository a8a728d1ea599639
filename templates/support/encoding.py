"""Encoding for the wire: JSON values, and strings for queries and headers."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from .unset import UNSET

#: Types that JSON has as they are. They are checked first, because nearly every value has one of them.
PLAIN = frozenset({str, int, float, bool, type(None)})


def encode(value: Any) -> Any:
    """Encode a value for JSON: models as objects, enums and UUIDs as strings, times as `YYYY-MM-DDTHH:mm:ss.sssZ`."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else encode(item) for item in value]
    # A plain dict is checked first: `isinstance(value, Mapping)` takes ten times as long.
    if kind is not dict and hasattr(value, "to_dict"):
        return value.to_dict()
    if kind is dict or isinstance(value, Mapping):
        return {key: item if type(item) in PLAIN else encode(item) for key, item in value.items() if item is not UNSET}
    return _encode_scalar(value)


def _encode_scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, datetime):
        return encode_datetime(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def encode_datetime(value: datetime) -> str:
    """Encode a time in UTC with milliseconds and `Z`. A time without a zone is in UTC, as when it is decoded."""
    try:
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # At the ends of the calendar a time may have no form in UTC.
        return value.isoformat(timespec="milliseconds")
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def encode_string(value: Any) -> str:
    """Encode a value for a query or a header: a list joined by commas, true and false in lower case."""
    encoded = encode(value)
    if isinstance(encoded, bool):
        return "true" if encoded else "false"
    if isinstance(encoded, list):
        return ",".join(encode_string(item) for item in encoded)
    return str(encoded)


def encode_parameters(values: Mapping[str, Any]) -> dict[str, str]:
    """Encode query parameters or headers. One that is UNSET or None is omitted."""
    return {name: encode_string(value) for name, value in values.items() if value is not UNSET and value is not None}
