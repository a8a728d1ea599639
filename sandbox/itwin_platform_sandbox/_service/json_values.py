"""JSON values: their type, and strict parsing and compact serialization."""

import json
import math
from collections.abc import Iterable
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
        value: JSON = json.loads(text, parse_constant=_reject_constant, parse_float=_finite)
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
