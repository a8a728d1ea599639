"""What the generated modules share: the absent value, the response of a function, lossless decoding and encoding."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import Enum, StrEnum
from reprlib import Repr
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, final
from uuid import UUID

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


@final
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


@dataclass(slots=True)
class Response(Generic[T]):
    """A response from an endpoint; its content may hold secrets and never shows in `repr`, nor do its headers."""

    status_code: int
    content: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    parsed: T


def open_member(enum_class: type[E], value: object) -> E | None:
    """Makes a member for a text that the enum does not list, so that it stays a str and survives a round trip."""
    if not isinstance(value, str):
        return None
    member = str.__new__(enum_class, value)
    member._name_ = value
    member._value_ = value
    return member


def members_of(enum_class: type[E]) -> dict[Any, Any]:
    """Returns the members that an enum lists, by their texts."""
    return {member.value: member for member in enum_class}


def decode_enum(enum_class: type[E], value: Any) -> Any:
    """Reads an enum member; what is not a text stays as it came."""
    return enum_class(value) if type(value) is str else value


if TYPE_CHECKING:

    def blank(kind: type[T]) -> T:
        """Makes a model without fields, which its `from_dict` sets one by one."""
        ...
else:
    blank = object.__new__

_read_time = datetime.fromisoformat


def unknown_of(values: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Returns the fields of an object that the description does not name."""
    return {name: value for name, value in values.items() if name not in names}


def decode_datetime(value: Any) -> Any:
    """Reads a time in any form that carries a whole date, as UTC where it names no zone; another value stays."""
    try:
        moment = _read_time(value)
    except (TypeError, ValueError):
        return _decode_other_time(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment


def _decode_other_time(value: str) -> Any:
    from dateutil import parser as dateutil_parser  # few answers need it

    # What a text leaves out is taken from the default: where two defaults give two times, it is not a whole date.
    try:
        one, other = (dateutil_parser.parse(value, default=default, tzinfos=_zone) for default in _DEFAULTS)
    except Exception:  # A parser of every form raises anything: what it cannot read stays a text, and nothing is lost.
        return value
    return one if one == other else value


_DEFAULTS = datetime(2000, 1, 1, tzinfo=timezone.utc), datetime(2001, 2, 2, tzinfo=timezone.utc)


def _zone(name: str | None, offset: int | None) -> timezone:
    # Named zones are refused: their meaning would depend on the machine.
    if name is not None and offset is None:
        raise ValueError(name)
    return timezone(timedelta(seconds=offset or 0))


def decode_model(decode: Callable[[Mapping[str, Any]], T], value: Any) -> Any:
    """Reads an object into its model; null, or another shape, stays as it came."""
    return decode(value) if isinstance(value, dict) else value


def decode_models(decode: Callable[[Mapping[str, Any]], T], value: Any) -> Any:
    """Reads each object of a list into its model; an item, or a list, of another shape stays as it came."""
    if isinstance(value, list):
        return [decode(item) if isinstance(item, dict) else item for item in value]
    return value


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


#: What JSON has as it is; checked first, because nearly every value is one of these.
PLAIN = frozenset({str, int, float, bool, type(None)})


def encode(value: Any) -> Any:
    """Writes a value for JSON: models as objects, enums and UUIDs as texts, times as `YYYY-MM-DDTHH:mm:ss.sssZ`."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else encode(item) for item in value]
    # The plain dict is asked for first: asking whether something is a Mapping takes ten times as long.
    if kind is not dict and hasattr(value, "to_dict"):
        return value.to_dict()
    if kind is dict or isinstance(value, Mapping):
        return {key: item if type(item) in PLAIN else encode(item) for key, item in value.items() if item is not UNSET}
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, datetime):
        return encode_datetime(value)
    return str(value) if isinstance(value, UUID) else value


def encode_datetime(value: datetime) -> str:
    """Writes a time in UTC with milliseconds and `Z`; one without a zone is taken as UTC, as it is when read."""
    try:
        moment = value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)
    except OverflowError:  # At the ends of the calendar a time may have no form in UTC: its own loses nothing.
        return value.isoformat(timespec="milliseconds")
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


class _Short(Repr):
    """Writes any value in one line: long texts cut in their middle, of a long list the first item and how many follow."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 80
        self.maxother = 120  # the longest member of an enum fits
        self.maxlist = self.maxdict = 3
        self.fillvalue = "…"

    def repr_list(self, x: list[Any], level: int) -> str:
        if len(x) <= self.maxlist or level <= 0:
            return super().repr_list(x, level)
        return f"[{self.repr1(x[0], level - 1)}, … {len(x) - 1} more]"

    def repr_instance(self, x: Any, level: int) -> str:
        # A model is short by itself, and cut in its middle it would be no help.
        return repr(x) if hasattr(x, "to_dict") else super().repr_instance(x, level)

    def repr_datetime(self, x: datetime, level: int) -> str:
        return x.isoformat()


_SHORT = _Short()


def describe(model: Any, secret_fields: frozenset[str] = frozenset()) -> str:
    """Writes a model for people, short: absent fields left out, secrets hidden, unknown fields by their names only."""
    parts: list[str] = []
    for name in model.__slots__:
        if name in ("__weakref__", "additional_properties"):
            continue
        value = getattr(model, name)
        if value is not UNSET:
            hidden = name in secret_fields and value is not None
            parts.append(f"{name}={'<hidden>' if hidden else _SHORT.repr(value)}")
    unknown = getattr(model, "additional_properties", None)
    if unknown:
        parts.append(f"additional_properties={_SHORT.repr(sorted(unknown))}")
    return f"{type(model).__name__}({', '.join(parts)})"


__all__ = ["UNSET", "Response", "Unset"]
