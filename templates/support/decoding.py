"""Lenient decoding: a value of an unexpected form is kept unchanged, so that one such field never loses a page."""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

if TYPE_CHECKING:

    def blank(kind: type[T]) -> T:
        """Return a model without fields; its `from_dict` sets them one by one."""
        ...
else:
    blank = object.__new__

_parse_datetime = datetime.fromisoformat


def open_member(enum_class: type[E], value: object) -> E | None:
    """Return a member for a value that the enum does not list, which is encoded as the same string or integer again."""
    kind: Any = int if issubclass(enum_class, int) else str
    if not isinstance(value, kind) or isinstance(value, bool):
        return None
    member: E = kind.__new__(enum_class, value)
    member._name_ = str(value)
    member._value_ = value
    return member


def unknown_of(values: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Return the fields of an object that the specification does not name."""
    return {name: value for name, value in values.items() if name not in names}


def decode_enum(enum_class: type[Enum], value: Any) -> Any:
    """Decode a string or an integer into a member of an enum of such values."""
    return enum_class(value) if type(value) is (int if issubclass(enum_class, int) else str) else value


class MembersOf:
    """A decoder of the values of an enum of strings, with its `members` by value."""

    __slots__ = ("enum_class", "members")

    def __init__(self, enum_class: type[Enum]) -> None:
        self.enum_class: type[Enum] = enum_class
        self.members: dict[Any, Enum] = {member.value: member for member in enum_class}

    def __call__(self, value: Any) -> Any:
        """Decode a value."""
        return decode_enum(self.enum_class, value)


def decode_map(decode: Callable[[Any], Any], values: dict[str, Any]) -> dict[str, Any]:
    """Decode each value of an object."""
    return {name: decode(value) for name, value in values.items()}


def decode_datetime(value: Any) -> Any:
    """Decode a time in any form that has a full date. A time without a zone is in UTC."""
    try:
        moment = _parse_datetime(value)
    except (TypeError, ValueError):
        return _decode_other_form(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


#: 24:00 of a date, which is 00:00 of the next date; `fromisoformat` reads it from Python 3.14 on.
_END_OF_DAY = re.compile(r"(\d{4}-\d\d-\d\d[T ])24(:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?)", re.ASCII)


#: A name before an offset, which JavaScript writes. With it, dateutil reads `GMT+3` as three hours behind GMT.
_NAME_OF_ZONE = re.compile(r"(?:GMT|UTC|Z) ?(?=[+-]\d)", re.IGNORECASE)


def _decode_other_form(value: str) -> Any:
    if (match := _END_OF_DAY.fullmatch(value)) is not None:
        try:
            return decode_datetime(f"{match[1]}00{match[2]}") + timedelta(days=1)
        except (OverflowError, TypeError):  # the day after the last of the calendar, or an invalid date
            return value
    from dateutil import parser as dateutil_parser  # imported here, because few responses need it

    # dateutil takes omitted parts from the default: if two defaults give two times, the string has no full date.
    try:
        text = _NAME_OF_ZONE.sub("", value)
        first, second = (dateutil_parser.parse(text, default=default, tzinfos=_zone) for default in _DEFAULTS)
    except Exception:  # noqa: BLE001 - the parser raises all kinds of errors; an unreadable string stays a string
        return value
    return first if first == second else value


_DEFAULTS = datetime(2000, 1, 1, tzinfo=UTC), datetime(2001, 2, 2, tzinfo=UTC)


def _zone(name: str | None, offset: int | None) -> timezone:
    # A named zone is rejected: its meaning would depend on the machine.
    if name is not None and offset is None:
        raise ValueError(name)
    return timezone(timedelta(seconds=offset or 0))


def decode_date(value: Any) -> Any:
    """Decode a date without a time."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return value


def decode_uuid(value: Any) -> Any:
    """Decode a UUID."""
    try:
        return UUID(value)
    except (AttributeError, TypeError, ValueError):
        return value


def decode_model(model: Any, value: Any) -> Any:
    """Decode an object into its model."""
    return model.from_dict(value) if isinstance(value, dict) else value


def decode_list(decode: Callable[[Any], Any], value: Any) -> Any:
    """Decode each item of a list."""
    return [decode(item) for item in value] if isinstance(value, list) else value


def decode_one_of(models: Iterable[Any], value: Any) -> Any:
    """Decode an object into the first model whose constants are among its properties."""
    if isinstance(value, dict):
        for model in models:
            if (constants := getattr(model, "CONSTANTS", None)) and constants.items() <= value.items():
                return model.from_dict(value)
    return value


#: The function that makes a model from a structure, by the class of the structure.
MAKERS: dict[type[Any], Callable[[Any], Any]] = {}


def decode_kind(models: Mapping[str, Any], kind: Any, value: Any) -> Any:
    """Decode an object into the model of its kind; an object of another kind stays a dictionary."""
    model = models.get(kind) if isinstance(value, dict) and isinstance(kind, str) else None
    return value if model is None else model.from_dict(value)
