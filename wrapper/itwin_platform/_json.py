"""JSON as bytes: msgspec reads it and orjson writes it where they are installed, with the same results as without."""

import json
import math
import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ._api import PLAIN, encode
from ._errors import UsageError

msgspec_json: ModuleType | None
orjson: ModuleType | None
try:
    # By name: the types hold in a vendored copy too, where the extra may not be installed.
    msgspec_json = import_module("msgspec.json")
except ImportError:
    msgspec_json = None
try:
    orjson = import_module("orjson")
except ImportError:
    orjson = None

#: A null outside a string follows a colon, a comma or a bracket, or begins the body.
_NULL = re.compile(rb"null(?<![^:,\[]null)")


#: The fastest reader that is installed. orjson would read pages of numbers a little faster than msgspec, but it turns
#: an integer of 20 digits into a float, and to look for such an integer takes longer than what it gains.
decode_json: Callable[[bytes], object] = json.loads if msgspec_json is None else msgspec_json.decode


def read_json(body: bytes) -> object:
    """Deserialize a body.

    Raises:
        ValueError: The body is not JSON.
        RecursionError: It is nested too deeply.
    """
    try:
        return decode_json(body)
    except ValueError:
        # The standard library reads NaN, 1e400 and half of a surrogate pair, which msgspec rejects.
        return json.loads(body)


def write_json(body: object) -> bytes:
    """Serialize a body: a model or JSON values, with models, enums and times anywhere in it.

    Raises:
        UsageError: A value has no form in JSON, such as NaN, a set or half of a surrogate pair.
    """
    if orjson is not None:
        try:
            serialized: bytes = orjson.dumps(body, default=_json_form, option=_OPTIONS)
        except TypeError:
            pass  # the standard library accepts more keys, and says what is wrong
        else:
            # orjson writes NaN and the infinities as null.
            if _NULL.search(serialized) is None or _is_finite(body):
                return serialized
            del serialized  # tools that report errors show what frames hold
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


def _json_form(value: object) -> object:
    """Return the JSON form of a value that orjson does not know; of a model its fields as they are, without a copy."""
    fields = getattr(value, "wire_fields", None)
    encoded = encode(value) if fields is None else fields()
    if encoded is value:
        raise TypeError(type(value))
    return encoded


def _is_finite(body: object) -> bool:
    """Tell whether all numbers are finite in a body that orjson has written."""
    values: list[Any] = [body]
    while values:
        value = values.pop()
        kind = type(value)
        if kind is float:
            if not math.isfinite(value):
                return False
        elif kind is dict:
            values += value.values()
        elif kind is list or kind is tuple:
            values += value
        elif kind not in PLAIN:
            values.append(_json_form(value))
    return True


# What the standard library rejects is rejected: it is passed on to `_json_form`, which knows no dataclass.
_OPTIONS = (
    None
    if orjson is None
    else orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)
