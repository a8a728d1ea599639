"""Responses that deviate from the description in any way, read in both ways.

One that is as described is read faster than any other, and gives the same models. Source: sections 2.5 to 2.7, and 4.5.
"""

import importlib
import json
import random
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import httpx

from tests.support.calls import METHODS
from tests.support.operations import OPERATIONS, followed
from tests.support.schema_values import SCHEMAS

#: A value of each type that the description names, and of each format.
VALUES_OF_TYPES: dict[str, Any] = {
    "string": 'Bâtiment n° 7, "as built" \\ null',
    "date-time": "2024-05-14T09:30:53.589Z",
    "integer": 7,
    "number": 5339554.986713696,
    "double": -8.390302607812188,
    "boolean": True,
}


def described(schema: Mapping[str, Any]) -> Any:
    """Return a value as the description has it, with each property."""
    schema = followed(schema)
    if "oneOf" in schema:
        return described(schema["oneOf"][0])
    kind = schema.get("type", "string")
    kind = kind if isinstance(kind, str) else kind[0]
    if kind == "array":
        return [described(schema["items"]), described(schema["items"])]
    if kind == "object":
        return {name: described(each) for name, each in schema.get("properties", {}).items()}
    return schema.get("const") or schema.get("enum", [VALUES_OF_TYPES[schema.get("format", kind)]])[0]


ITWIN: dict[str, Any] = described(SCHEMAS["ITwin"]) | {"number": "PRO-000005", "type": None}
SUMMARY = tuple(SCHEMAS["ITwinSummary"]["properties"])
LINKS = {"self": {"href": "https://a.example/itwins/?$skip=0"}, "next": {"href": "https://a.example/itwins/?$skip=3"}}
VIEW: dict[str, Any] = described(SCHEMAS["View3dData"])
#: By kind. The description does not show the data of a layer.
DATA: dict[str, dict[str, Any]] = {
    "View3d": VIEW,
    "RepositoryResource": described(SCHEMAS["RepositoryResourceData"]),
    "Layer": {"opacity": 0.75, "shown": [True, None, {"in": "2D"}]},
}
OBJECT: dict[str, Any] = described(SCHEMAS["SceneObject"])
#: An object as create scene returns it, and the scene that holds it.
CREATED: dict[str, Any] = described(SCHEMAS["SceneObjectMinimal"])
SCENE: dict[str, Any] = described(SCHEMAS["Scene"]) | {"displayName": "Harbour"}
CONTEXT: dict[str, Any] = described(SCHEMAS["SceneContext"])
#: JSON values that replace others.
VALUES = [
    *("null", "true", "false", "0", "-0", "7", "-0.0", "1.5", "48", "1e400", "1E2", "12345678901234567890", "NaN"),
    *("-9223372036854775809", "0.0012345678901234567", '""', '"x"', '"Paused"', '"active"', '"Account"', '"East US"'),
    *('"2015-11-05T19:10:42.9712696"', '"2025-05-04T04:14:08Z"', '"2025-05-04"', '"11/3/2023 8:07:01 PM"', '"24:00"'),
    *('"0001-01-01T00:00:00+14:00"', '"2025-05-04T04:14:08.1234567+05:30"', '"\\ud800"', '"\\u0041ctive"', '"\\u0000"'),
    *("[]", "{}", '["x"]', "[0.5]", '{"href": "x"}', '{"a": {"b": [1]}}', '{"x": 1, "y": 2.5, "z": 3}'),
    *('"View3d"', '"RepositoryResource"', '"Layer"'),
]


def _of_each_kind(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**item, "kind": kind, "data": data} for kind, data in DATA.items()]


#: A response as described for each operation: iTwins in both forms, and objects of each kind.
DESCRIBED: dict[str, dict[str, Any]] = {
    **{name: described(operation.response) for name, operation in OPERATIONS.items()},
    "list_itwins": {"iTwins": [ITWIN, {name: ITWIN[name] for name in SUMMARY}, ITWIN], "_links": LINKS},
    "list_scene_objects": {"objects": _of_each_kind(OBJECT), "sceneContext": CONTEXT, "_links": LINKS},
    "create_scene": {"scene": SCENE | {"sceneData": {"objects": _of_each_kind(CREATED)}}},
}


def deviating(value: object, source: random.Random, share: float) -> str:
    """Write the JSON of a value, with a share of its values replaced, and of its members omitted, added or doubled."""

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


def mutated(name: str, source: random.Random) -> bytes:
    """Return a response with some or many deviations from the description, now and then with wrong bytes."""
    share = source.choice([0.0, 0.005, 0.01, 0.03])
    body = bytearray(deviating(DESCRIBED[name], source, share).encode("utf-8", "surrogatepass"))
    if source.random() < 0.1:
        at = source.randrange(len(body))
        wrong = [b"", b"7", b"9" * 21, b".", b"e", b'"', b"-", b"\xff", b","]
        body[at : at + source.randrange(3)] = source.choice(wrong)
    return bytes(body)


def shape(value: object) -> object:
    """Return everything of a value that a caller can see: the types too, and of a model each field."""
    if hasattr(value, "__slots__") and hasattr(value, "wire_fields"):
        slots: tuple[str, ...] = vars(type(value))["__slots__"]
        fields = [name for name in slots if name != "__weakref__"]
        return type(value), [(name, shape(getattr(value, name))) for name in fields]
    if isinstance(value, dict):
        return dict, {name: shape(item) for name, item in value.items()}  # JSON has no order of names
    if isinstance(value, list):
        return list, [shape(item) for item in value]
    return type(value), repr(value)


def parser_of(name: str) -> Callable[[httpx.Response], object]:
    """Return the generated function that reads the responses of an operation."""
    group = METHODS[name][0].partition(".")[0]
    parse: Callable[[httpx.Response], object] = importlib.import_module(
        f"itwin_platform_api.api.{group}.{name}"
    ).parse_response
    return parse


def parsed(name: str, body: bytes) -> object:
    """Parse a response as the client does; return None for what it rejects."""
    try:
        return parser_of(name)(httpx.Response(200, content=body))
    except Exception:  # noqa: BLE001  # both ways must reject it, with whatever error
        return None


def has_result(name: str, value: object) -> bool:
    """Tell whether a response has something to return: a list of objects, or an object as its only property."""
    if not isinstance(value, dict):
        return False
    held = value.get(OPERATIONS[name].held or "")
    if "_links" in DESCRIBED[name]:
        return held is None or (isinstance(held, list) and all(isinstance(item, dict) for item in held))
    return held is None or isinstance(held, dict)


def made_of_dictionaries(name: str, body: bytes) -> object:
    """Make the models of the dictionaries that the json module returns; None where there is nothing to return."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    made: object = get_type_hints(parser_of(name))["return"].from_dict(value) if has_result(name, value) else None
    return made


def different(name: str, *, count: int, seed: int = 15) -> list[bytes]:
    """Return the responses, of `count` mutated ones, that are not read as the models are made of dictionaries."""
    source = random.Random(seed)  # noqa: S311  # no secret
    bodies = (mutated(name, source) for _ in range(count))
    return [body for body in bodies if shape(parsed(name, body)) != shape(made_of_dictionaries(name, body))]
