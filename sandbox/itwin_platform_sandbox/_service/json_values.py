"""JSON values: strict parsing, compact serialization, and reading the fields of options, seeds and control requests."""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
JSONObject: TypeAlias = dict[str, JSON]

# Far above real values, and low enough for recursion.
DEEPEST_NESTING = 100


class NotJSONError(ValueError):
    """The text is not JSON (RFC 8259)."""


def read_json(text: bytes) -> JSON:
    """Parse JSON; `NotJSONError` also for NaN, Infinity, numbers out of range and more than 100 levels."""
    try:
        # As UTF-8, with or without a byte order mark; `json` would also take UTF-16, which RFC 8259 excludes.
        value: JSON = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotJSONError(str(error) or type(error).__name__) from error
    _check_nesting(value)
    return value


def write_json(value: JSON) -> bytes:
    """Serialize JSON as ASCII, which can encode every string of JSON, also a lone surrogate."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _check_nesting(value: JSON) -> None:
    level: list[JSON] = [value]
    for _ in range(DEEPEST_NESTING + 1):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return
    raise NotJSONError(f"it nests more than {DEEPEST_NESTING} levels")


def _inside(value: JSON) -> Iterable[JSON]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _reject_constant(name: str) -> JSON:
    raise NotJSONError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJSONError(f"the number {text[:40]} is out of range")
    return number


# Larger than any number that makes sense here, and small enough for dates and event loops.
LARGEST_NUMBER = 1_000_000_000


class FieldError(ValueError):
    """A field has a wrong value; `field` is None if the document itself is wrong."""

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


def read_fields(value: JSON, names: Collection[str], prefix: str = "") -> JSONObject:
    """Return the value as an object that has no other fields than `names`."""
    if not isinstance(value, dict):
        raise FieldError(prefix.rstrip(".") or None, "must be a JSON object")
    for name in value:
        if name not in names:
            raise FieldError(f"{prefix}{name[:100]}", f"unknown field; known are {', '.join(names)}")
    return value


def check_choice(field: str, value: JSON, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices."""
    known = list(choices)
    if not isinstance(value, str):
        raise FieldError(field, f"{_shown(value)} is not one of {', '.join(known)}")
    if value not in known:
        closest = "".join(f" (did you mean {name}?)" for name in get_close_matches(value, known, n=1))
        raise FieldError(field, f"{_shown(value)}{closest} is not one of {', '.join(known)}")
    return value


def read_integer(values: Mapping[str, JSON], name: str, default: int, *, least: int = 0) -> int:
    """Return an integer from `least` to 1,000,000,000; a string of digits counts as one."""
    number = read_number(values, name, default, least=least)
    if not float(number).is_integer():
        raise FieldError(name, f"{_shown(values[name])} is not an integer")
    return int(number)


def read_number(values: Mapping[str, JSON], name: str, default: float, *, least: float = 0) -> float:
    """Return a finite number from `least` to 1,000,000,000; a string with a number counts as one."""
    value = values.get(name, default)
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError  # noqa: TRY004, TRY301 - the sender's value is wrong; one message for every reason
        number = float(value)
    except (ValueError, OverflowError):
        raise FieldError(name, f"{_shown(value)} is not a number") from None
    if not (math.isfinite(number) and least <= number <= LARGEST_NUMBER):
        raise FieldError(name, f"{_shown(value)} is not between {least} and {LARGEST_NUMBER}")
    return number


def read_boolean(values: Mapping[str, JSON], name: str, *, default: bool) -> bool:
    """Return true or false."""
    value = values.get(name, default)
    if not isinstance(value, bool):
        raise FieldError(name, f"{_shown(value)} is neither true nor false")
    return value


def read_string(values: Mapping[str, JSON], name: str, default: str | None = None) -> str:
    """Return a string; without a default the field is required."""
    value = values.get(name, default)
    if not isinstance(value, str):
        raise FieldError(name, "a string is required" if value is None else f"{_shown(value)} is not a string")
    return value


def read_strings(values: Mapping[str, JSON], name: str, default: Iterable[str]) -> list[str]:
    """Return a list of strings."""
    value = values.get(name)
    if value is None:
        return list(default)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FieldError(name, "must be a list of strings")
    return [str(item) for item in value]


def _shown(value: JSON) -> str:
    """Return the value for a message: short, whatever was sent."""
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number with too many digits"  # and Python does not print more than 4,300 of them
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
