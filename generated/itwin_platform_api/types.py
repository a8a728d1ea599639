"""What the generated modules share: the absent value, the response of a function, lossless decoding and encoding."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from enum import Enum, StrEnum
from typing import Any, Generic, Literal, TypeVar

from attrs import define
from dateutil import parser as dateutil_parser

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Unset:
    """The type of UNSET: an argument or a field that is not there, as opposed to one that is null."""

    __slots__ = ()
    _instance: "Unset | None" = None

    def __new__(cls) -> "Unset":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    def __copy__(self) -> "Unset":
        return self

    def __deepcopy__(self, memo: object) -> "Unset":
        return self

    def __reduce__(self) -> str:
        return "UNSET"


UNSET: Unset = Unset()


@define
class Response(Generic[T]):
    """A response from an endpoint."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]
    parsed: T


def open_member(enum_class: type[E], value: object) -> E | None:
    """Makes a member for a text that the enum does not list, so that it stays a str and survives a round trip."""
    if not isinstance(value, str):
        return None
    member = str.__new__(enum_class, value)
    member._name_ = value
    member._value_ = value
    return member


def decode_enum(enum_class: type[E], value: Any) -> Any:
    """Reads an enum member; what is not a text stays as it came."""
    if type(value) is str:
        return enum_class._value2member_map_.get(value) or enum_class(value)
    return value


def decode_datetime(value: Any) -> Any:
    """Reads a time in any form that carries a date, as UTC where it names no zone; another value stays as it came."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        try:
            moment = dateutil_parser.parse(value)
        except (ValueError, OverflowError):
            return value
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment


def decode_model(decode: Callable[[Mapping[str, Any]], T], value: Any) -> Any:
    """Reads an object into its model; null, or another shape, stays as it came."""
    return decode(value) if isinstance(value, dict) else value


def decode_list(decode: Callable[[Any], Any], value: Any) -> Any:
    """Reads each item of a list; another shape stays as it came."""
    return [decode(item) for item in value] if isinstance(value, list) else value


def decode_one_of(models: Iterable[Any], value: Any) -> Any:
    """Reads an object into the model whose constants it carries; an object that fits none stays as it came."""
    if isinstance(value, dict):
        for model in models:
            constants = getattr(model, "CONSTANTS", None)
            if constants and all(value.get(name) == constant for name, constant in constants.items()):
                return model.from_dict(value)
    return value


def encode(value: Any) -> Any:
    """Writes a value for JSON: models as objects, enums as texts, times as `YYYY-MM-DDTHH:mm:ss.sssZ`."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime):
        return encode_datetime(value)
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items() if item is not UNSET}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def encode_fields(fields: Mapping[str, Any], additional: Mapping[str, Any]) -> dict[str, Any]:
    """Writes a model's fields for JSON: those that are there, the unknown ones first, so that a known one wins."""
    written = {name: encode(value) for name, value in additional.items()}
    written.update((name, encode(value)) for name, value in fields.items() if value is not UNSET)
    return written


def encode_datetime(value: datetime) -> str:
    """Writes a time in UTC with milliseconds and `Z`; one without a zone is taken as UTC, as it is when read."""
    moment = value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def encode_text(value: Any) -> str:
    """Writes a value for a query or a header: a list joined by commas, true and false in lower case."""
    encoded = encode(value)
    if isinstance(encoded, bool):
        return "true" if encoded else "false"
    if isinstance(encoded, list):
        return ",".join(encode_text(item) for item in encoded)
    return str(encoded)


def encode_parameters(values: Mapping[str, Any]) -> dict[str, str]:
    """Writes the parameters of a query or the headers that were given: those left out, or None, are not sent."""
    return {name: encode_text(value) for name, value in values.items() if value is not UNSET and value is not None}


def describe(model: Any, secret_fields: frozenset[str] = frozenset()) -> str:
    """Writes a model for people: absent fields left out, secrets hidden, unknown fields by their names only."""
    parts: list[str] = []
    for name in model.__slots__:
        if name in ("__weakref__", "additional_properties"):
            continue
        value = getattr(model, name)
        if value is not UNSET:
            parts.append(f"{name}={'<hidden>' if name in secret_fields and value is not None else repr(value)}")
    unknown = getattr(model, "additional_properties", None)
    if unknown:
        parts.append(f"additional_properties={sorted(unknown)}")
    return f"{type(model).__name__}({', '.join(parts)})"


__all__ = ["UNSET", "Response", "Unset"]
