"""Responses that deviate from the specification, parsed by the fast path and by the slow path.

The fast path parses responses that match the specification. Both give the same models.
Source: sections 2.5 to 2.7, and 4.5.
"""

import json
import random
from importlib import import_module
from typing import Any, get_type_hints

import httpx
from itwin_platform_api.operations import MODULES

from tests.support.operations import OPERATIONS

#: JSON values that take the place of the documented ones.
VALUES = [
    *("null", "true", "false", "0", "-0", "7", "-0.0", "1.5", "48", "1e400", "1E2", "12345678901234567890", "NaN"),
    *("-9223372036854775809", "0.0012345678901234567", '""', '"x"', '"Paused"', '"active"', '"Account"', '"East US"'),
    *('"2015-11-05T19:10:42.9712696"', '"2025-05-04T04:14:08Z"', '"2025-05-04"', '"11/3/2023 8:07:01 PM"', '"24:00"'),
    *('"0001-01-01T00:00:00+14:00"', '"2025-05-04T04:14:08.1234567+05:30"', '"\\ud800"', '"\\u0041ctive"', '"\\u0000"'),
    *("[]", "{}", '["x"]', "[0.5]", '{"href": "x"}', '{"a": {"b": [1]}}', '{"x": 1, "y": 2.5, "z": 3}'),
    *('"View3d"', '"RepositoryResource"', '"Layer"'),
]


def read(name: str, body: bytes) -> Any:
    """Parse a response of an operation as the client does."""
    module = import_module(f"itwin_platform_api.{MODULES[name]}")
    return module.parse_response(httpx.Response(200, content=body))


def model_of(name: str) -> Any:
    """Return the model of the responses of an operation."""
    return get_type_hints(import_module(f"itwin_platform_api.{MODULES[name]}").parse_response)["return"]


def deviating(value: object, source: random.Random, share: float) -> str:
    """Return the JSON of a value, in which a share of the values is replaced, and of the members omitted or added."""

    def happens() -> bool:
        return source.random() < share

    if happens():
        return source.choice(VALUES)
    if isinstance(value, list):
        items = [deviating(item, source, share) for item in source.sample(value, source.randint(0, len(value)))]
        return f"[{', '.join(items + [source.choice(VALUES)] * happens())}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    members = [(name, deviating(item, source, share)) for name, item in value.items() if not happens()]
    if happens():
        members.append((source.choice([*value, "unknown", "\\u0069d", "Id"]), source.choice(VALUES)))
    source.shuffle(members)
    return "{" + ", ".join(f'"{name}": {text}' for name, text in members) + "}"


def mutated(value: object, source: random.Random) -> bytes:
    """Return a response with a random number of deviations, and in one of ten cases with wrong bytes."""
    share = source.choice([0.0, 0.005, 0.01, 0.03])
    body = bytearray(deviating(value, source, share).encode("utf-8", "surrogatepass"))
    if source.random() < 0.1:
        at = source.randrange(len(body))
        wrong = [b"", b"7", b"9" * 21, b".", b"e", b'"', b"-", b"\xff", b","]
        body[at : at + source.randrange(3)] = source.choice(wrong)
    return bytes(body)


def shape(value: object) -> object:
    """Return a value in a form that compares types, and the fields of models."""
    if hasattr(value, "__slots__") and hasattr(value, "wire_fields"):
        slots: tuple[str, ...] = vars(type(value))["__slots__"]
        fields = [name for name in slots if name != "__weakref__"]
        return type(value), [(name, shape(getattr(value, name))) for name in fields]
    if isinstance(value, dict):
        return dict, {name: shape(item) for name, item in value.items()}  # JSON has no order of names
    if isinstance(value, list):
        return list, [shape(item) for item in value]
    return type(value), repr(value)


def parsed(name: str, body: bytes) -> object:
    """Parse a response as the client does; None if it is rejected."""
    try:
        return read(name, body)
    except Exception:  # noqa: BLE001  # both paths must reject it, with any error
        return None


def has_result(value: object) -> bool:
    """Return whether a response holds a result: a list of objects, or an object as its only property."""
    if not isinstance(value, dict):
        return False
    for name in ("iTwins", "objects"):
        items = value.get(name)
        if items is not None and not (isinstance(items, list) and all(isinstance(item, dict) for item in items)):
            return False
    results = [value.get(name) for name in ("scene", "iTwin", "repository", "resource", "detector")]
    return all(each is None or isinstance(each, dict) for each in results)


def made_of_dictionaries(name: str, body: bytes) -> object:
    """Make the models from the dictionaries of the json module; None without a result."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    made: object = model_of(name).from_dict(value) if has_result(value) else None
    return made


def different(name: str, *, count: int, seed: int = 15) -> list[bytes]:
    """Return the responses, out of `count` mutated ones, for which the two paths give different models."""
    source = random.Random(seed)  # noqa: S311  # no secret
    samples = [OPERATIONS[name].sample(seen=seen) for seen in (False, True)]
    bodies = (mutated(source.choice(samples), source) for _ in range(count))
    return [body for body in bodies if shape(parsed(name, body)) != shape(made_of_dictionaries(name, body))]
