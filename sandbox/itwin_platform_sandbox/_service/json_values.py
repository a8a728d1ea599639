"""JSON values: strict parsing, compact serialization, and checks of arguments, options and control requests."""

import json
import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, TypeAlias, TypeVar, cast

import msgspec

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
JSONObject: TypeAlias = dict[str, JSON]

# The maximum depth of a JSON value: far above real values, and far below the recursion limit.
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


# The maximum of every number: larger than any useful value, and small enough for dates and event loops.
LARGEST_NUMBER = 1_000_000_000
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_NUMBER)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_NUMBER)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=LARGEST_NUMBER)]


class FieldError(ValueError):
    """A field has a wrong value; `field` is None if the document itself is wrong."""

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


_Checked = TypeVar("_Checked")
_PLACE = re.compile(r"(?P<message>.*?)(?: - at `(?:key` in `)?\$\.?(?P<field>.*)`)?", re.DOTALL)
_NAMED = re.compile(r"Object (?:contains|missing) (?P<problem>.*) field `(?P<name>.*)`", re.DOTALL)


def checked(kind: type[_Checked], values: object) -> _Checked:
    """Return values as an object of a class of msgspec, or as any type; `FieldError` names the wrong field."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        match = _PLACE.fullmatch(str(error))
        field, message = (match["field"] or "", match["message"]) if match else ("", str(error))
        if isinstance(error.__cause__, FieldError):
            field, message = f"{field}.{error.__cause__.field or ''}", error.__cause__.message
        elif named := _NAMED.fullmatch(message):
            field, message = (
                f"{field}.{named['name'][:100]}",
                f"{named['problem']} field".replace("required", "a required"),
            )
        message = message.replace("`", "")
        raise FieldError(field.strip(".") or None, message[:1].lower() + message[1:]) from error


def check_json(field: str, value: object) -> None:
    """Reject a value that JSON cannot express."""
    try:
        write_json(cast("JSON", value))
    except (TypeError, ValueError, RecursionError) as error:
        raise FieldError(field, f"cannot be serialized as JSON: {error}") from error


def check_choice(field: str, value: object, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        closest = get_close_matches(str(value)[:100], known, n=1)
        hint = f" (did you mean {closest[0]}?)" if closest and isinstance(value, str) else ""
        raise FieldError(field, f"{_shown(value)}{hint} is not one of {', '.join(known)}")
    return value


def _shown(value: object) -> str:
    """Return a short form of the value for a message."""
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number with too many digits"  # and Python does not print more than 4,300 of them
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
