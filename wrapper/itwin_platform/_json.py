"""JSON as bytes: msgspec reads and writes it, and the standard library what msgspec rejects, with the same results.

msgspec is imported when the first body is read or written.
"""

import json
import math
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from ._api import PLAIN, UNSET, encode, encode_scalar
from ._errors import UsageError

#: A null outside a string follows a colon, a comma or a bracket, or begins the body.
_NULL = re.compile(rb"null(?<![^:,\[]null)")
_CONTAINERS = frozenset({dict, list})
_JSON_TYPES = PLAIN | _CONTAINERS
#: What is nested more deeply is left to the standard library: it may hold itself.
_LEVELS = 50


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
        # The standard library reads NaN, 1e400 and half of a surrogate pair, which msgspec rejects.
        return json.loads(body)


def write_json(body: object) -> bytes:
    """Serialize a body: a model or JSON values, with models, enums and times anywhere in it.

    Raises:
        UsageError: A value has no form in JSON, such as NaN, a set or half of a surrogate pair.
    """
    serialized = _written_by_msgspec(body)
    if serialized is not None:
        return serialized
    # The standard library accepts more keys and numbers, and says what is wrong.
    try:
        return json.dumps(
            encode(body), ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
        ).encode()
    except UnicodeEncodeError:
        reason = "a string holds half of a surrogate pair"
    except RecursionError:
        reason = "it is nested too deeply, or holds itself"
    except (TypeError, ValueError) as error:
        reason = str(error)
    raise UsageError(f"the body cannot be serialized as JSON: {reason}")


def _written_by_msgspec(body: object) -> bytes | None:
    """Serialize a body of the types that JSON has; return None for any other."""
    from msgspec.json import encode as serialize

    try:
        values = _json_values(body)
        serialized = serialize(values)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    # msgspec writes NaN and the infinities as null.
    return serialized if _NULL.search(serialized) is None or _is_finite(values) else None


def _json_values(value: Any) -> Any:
    """Return a body as the types that JSON has; a part that has no others is not copied.

    Left to itself, msgspec would write a set as a list, a time in another form, and the Python names of a model.

    Raises:
        TypeError: a value has no form in JSON.
    """
    kind = type(value)
    if kind in PLAIN or (kind in _CONTAINERS and _has_json_types(value)):
        return value
    # Most values of a model are plain: asking here saves a call for each.
    if isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else _json_values(item) for item in value]
    fields = value.wire_fields() if hasattr(value, "wire_fields") else value
    # A plain dict is checked first: `isinstance(value, Mapping)` takes ten times as long.
    if type(fields) is dict or isinstance(fields, Mapping):
        return _json_object(fields)
    return _json_scalar(value)


def _json_object(fields: Mapping[Any, Any]) -> dict[Any, Any]:
    return {
        name: item if type(item) in PLAIN else _json_values(item) for name, item in fields.items() if item is not UNSET
    }


def _json_scalar(value: Any) -> Any:
    encoded = encode_scalar(value)
    if type(encoded) not in PLAIN:
        raise TypeError(type(value))
    return encoded


def _has_json_types(value: object) -> bool:
    """Tell whether a value has only the types that JSON has.

    It asks level by level, because one question for all values of a level takes a fifth of a question for each.
    """
    level: list[Any] = [value]
    for _ in range(_LEVELS):
        kinds = {*map(type, level)}
        if not kinds <= _JSON_TYPES:
            return False
        if kinds.isdisjoint(_CONTAINERS):
            return True
        containers = [each for each in level if type(each) in _CONTAINERS]
        level = [*chain.from_iterable([each.values() if type(each) is dict else each for each in containers])]
    return False


def _is_finite(body: object) -> bool:
    """Tell whether all numbers are finite in a body of the types that JSON has."""
    values: list[Any] = [body]
    for value in values:
        kind = type(value)
        if kind is float:
            if not math.isfinite(value):
                return False
        elif kind is dict:
            values += value.values()
        elif kind is list:
            values += value
    return True
