"""JSON as bytes, read and written with orjson where it is installed, with the same results as without it."""

import json
from importlib import import_module
from types import ModuleType

from ._api import encode
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


def write_json(body: object) -> bytes:
    """Writes a body: a model, or what JSON has, with models, enums and times anywhere in it.

    Raises:
        UsageError: a value that JSON does not have, such as NaN, a set, or half of a surrogate pair.
    """
    if orjson is not None:
        try:
            written: bytes = orjson.dumps(body, default=_part, option=_OPTIONS)
        except TypeError:
            written = b"null"
        # orjson writes NaN as null: only what holds no null at all is certain to hold no NaN.
        if b"null" not in written:
            return written
    try:
        return json.dumps(encode(body), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        reason = "a text holds half of a surrogate pair"
    except RecursionError:
        reason = "it is nested too deeply, or holds itself"
    except (TypeError, ValueError) as error:
        reason = str(error)
    raise UsageError(f"the body cannot be written as JSON: {reason}")


def _part(value: object) -> object:
    """Gives what JSON has in place of a value that it has not: of a model its fields as they are, without a copy."""
    fields = getattr(value, "wire_fields", None)
    encoded = encode(value) if fields is None else fields()
    if encoded is value:
        raise TypeError(type(value))
    return encoded


# What the standard library refuses is refused: it is passed on to `_part`, which knows no dataclass.
_OPTIONS = (
    None
    if orjson is None
    else orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)
