"""JSON as bytes, read and written with orjson where it is installed, with the same results as without it."""

import json
from importlib import import_module
from types import ModuleType

from ._errors import UsageError

orjson: ModuleType | None
try:
    # By name: the types hold in a vendored copy too, where the extra may not be installed.
    orjson = import_module("orjson")
except ImportError:
    orjson = None

#: orjson reads a whole number of 20 digits as a float, which would lose some. Digits are made alike and searched for,
#: because that takes a twentieth of the time of a regular expression.
_DIGITS_ALIKE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord("x") for byte in range(256))
_LONG_NUMBER = b"0" * 19


def read_json(body: bytes) -> object:
    """Reads a body.

    Raises:
        ValueError: it is not JSON. RecursionError: it is nested too deeply.
    """
    if orjson is not None and _LONG_NUMBER not in body.translate(_DIGITS_ALIKE):
        try:
            value: object = orjson.loads(body)
        except ValueError:
            # NaN, and half of a surrogate pair, which orjson refuses, are kept as the standard library reads them.
            pass
        else:
            return value
    return json.loads(body)


def write_json(value: object) -> bytes:
    """Writes a body.

    Raises:
        UsageError: a value that JSON does not have, such as NaN, a set, or half of a surrogate pair.
    """
    if orjson is not None:
        try:
            written: bytes = orjson.dumps(value, option=_OPTIONS)
        except TypeError:
            written = b"null"
        # orjson writes NaN as null: only what holds no null at all is certain to hold no NaN.
        if b"null" not in written:
            return written
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        reason = "a text holds half of a surrogate pair"
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error)
    raise UsageError(f"the body cannot be written as JSON: {reason}")


# What the standard library refuses is refused: it is passed on to no one, which is a TypeError.
_OPTIONS = (
    None
    if orjson is None
    else orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)
