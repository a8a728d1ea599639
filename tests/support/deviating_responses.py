"""Responses that deviate from the description in any way, read in both ways.

One that is as described is read faster than any other, and gives the same models. Source: sections 2.5 to 2.7, and 4.5.
"""

import json
import random
from collections.abc import Callable
from typing import Any

import httpx
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.itwins import get_primary_account, list_itwins
from itwin_platform_api.api.repositories import create_repository_resource, update_repository
from itwin_platform_api.api.scenes import create_scene, list_scene_objects
from itwin_platform_api.api.webhooks import update_webhook
from itwin_platform_api.models import (
    DetectorResponse,
    ITwinsResponse,
    PrimaryAccountResponse,
    RepositoryResponse,
    ResourceResponse,
    SceneObjectsResponse,
    SceneResponse,
    Webhook,
)

ITWIN: dict[str, Any] = {
    "id": "e97ad6bd-7e6d-4053-b317-18ec7d52a14f",
    "class": "Endeavor",
    "subClass": "Project",
    "type": None,
    "number": "PRO-000005",
    "displayName": 'Bâtiment n° 7, "as built" \\ null',
    "status": "Active",
    "geographicLocation": "Pune",
    "latitude": -8.390302607812188,
    "longitude": 177.34854565588665,
    "ianaTimeZone": None,
    "dataCenterLocation": "Central India",
    "parentId": "2094fbc3-1151-4350-aa62-429e1125bc6b",
    "iTwinAccountId": "cd6ccaaf-001b-4c40-ad52-0074f9c32de2",
    "imageName": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b.png",
    "image": "https://images.example.com/a?sig=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "createdDateTime": "2019-03-04T13:30:00.185Z",
    "createdBy": None,
    "lastModifiedDateTime": "2022-06-09T17:26:11.13",
    "lastModifiedBy": "ec1bc091-7bf5-4cf8-9b15-d1bb625ac677",
}
SUMMARY = ("id", "class", "subClass", "type", "number", "displayName", "status")
LINKS = {"self": {"href": "https://a.example/itwins/?$skip=0"}, "next": {"href": "https://a.example/itwins/?$skip=3"}}
VIEW: dict[str, Any] = {
    "position": {"x": 5339554.986713696, "y": 3699162.544543704, "z": 4824606.78290675},
    "direction": {"x": -0.6197367015660359, "y": -0.5122566391658632, "z": 0.5945751057373195},
    "up": {"x": 0, "y": 0, "z": 1},
    "isOrthographic": False,
    "aspectRatio": 1.883395164310001,
    "near": 0.07441582658746901,
    "far": 3639.451176275867,
    "fov": 0.7977000090479575,
    "width": 12,
    "ecefTransform": [0.6249309688880329, -0.5251642713377884, 3594285.328099491, 0, 0, 1],
}
RESOURCE = {
    "iTwinId": "2094fbc3-1151-4350-aa62-429e1125bc6b",
    "repositoryId": "iModels",
    "id": "e97ad6bd-7e6d-4053-b317-18ec7d52a14f",
    "class": "iModels",
    "subClass": "Évo",
}
#: By kind. The description does not show the data of a layer.
DATA: dict[str, dict[str, Any]] = {
    "View3d": VIEW,
    "RepositoryResource": RESOURCE,
    "Layer": {"opacity": 0.75, "shown": [True, None, {"in": "2D"}]},
}
OBJECT: dict[str, Any] = {
    "id": "e6f237ee-7b34-4e9d-926e-26b93a277153",
    "displayName": "View 4",
    "order": 4,
    "visible": True,
    "version": "1.0.0",
    "parentId": "ec1bc091-7bf5-4cf8-9b15-d1bb625ac677",
    "relatedId": "554bbde0-69a1-4f25-b9f8-65585d17c7bd",
    "sceneId": "ebb6f93f-53ca-4fcc-8909-a9f2cb35b4cd",
    "createdById": "ec1bc091-7bf5-4cf8-9b15-d1bb625ac677",
    "creationTime": "2024-05-14T09:30:53.589Z",
    "lastModified": "2022-06-09T17:26:11.13",
}
#: An object as create scene returns it, and the scene that holds it.
CREATED = {name: OBJECT[name] for name in ("id", "displayName", "visible", "version")}
SCENE: dict[str, Any] = {
    "id": "ebb6f93f-53ca-4fcc-8909-a9f2cb35b4cd",
    "displayName": "Harbour",
    "iTwinId": "2094fbc3-1151-4350-aa62-429e1125bc6b",
    "parentId": "554bbde0-69a1-4f25-b9f8-65585d17c7bd",
    "createdById": "ec1bc091-7bf5-4cf8-9b15-d1bb625ac677",
    "creationTime": "2024-05-14T09:30:53.589Z",
    "lastModified": "2022-06-09T17:26:11.13",
}
CONTEXT = {"displayName": "Harbour", "lastModified": "2024-05-14T09:30:53.589Z", "isPartial": False}
#: JSON values that replace others.
VALUES = [
    *("null", "true", "false", "0", "-0", "7", "-0.0", "1.5", "48", "1e400", "1E2", "12345678901234567890", "NaN"),
    *("-9223372036854775809", "0.0012345678901234567", '""', '"x"', '"Paused"', '"active"', '"Account"', '"East US"'),
    *('"2015-11-05T19:10:42.9712696"', '"2025-05-04T04:14:08Z"', '"2025-05-04"', '"11/3/2023 8:07:01 PM"', '"24:00"'),
    *('"0001-01-01T00:00:00+14:00"', '"2025-05-04T04:14:08.1234567+05:30"', '"\\ud800"', '"\\u0041ctive"', '"\\u0000"'),
    *("[]", "{}", '["x"]', "[0.5]", '{"href": "x"}', '{"a": {"b": [1]}}', '{"x": 1, "y": 2.5, "z": 3}'),
    *('"View3d"', '"RepositoryResource"', '"Layer"'),
]


REPOSITORY: dict[str, Any] = {
    "id": "e97ad6bd-7e6d-4053-b317-18ec7d52a14f",
    "class": "GeographicInformationSystem",
    "subClass": "UrlTemplate",
    "displayName": "Base map",
    "uri": "https://tiles.example.com/{level}/{column}/{row}",
    "capabilities": {"resources": {"uri": "https://a.example/resources"}},
    "authentication": {"type": "Basic", "username": "u", "password": "p"},
    "options": {"queryParameters": {"style": "dark"}, "minimumLevel": 0, "maximumLevel": 18.5},
}
RESOURCE_OF_REPOSITORY: dict[str, Any] = {name: REPOSITORY[name] for name in ("id", "class", "subClass", "displayName")}
WEBHOOK: dict[str, Any] = {
    "id": "ebb6f93f-53ca-4fcc-8909-a9f2cb35b4cd",
    "scope": "iTwin",
    "scopeId": "2094fbc3-1151-4350-aa62-429e1125bc6b",
    "active": True,
    "callbackUrl": "https://a.example/hook",
    "eventTypes": ["iModelDeleted.v1"],
    "created": "2024-05-14T09:30:53.589Z",
    "modified": "2022-06-09T17:26:11.13",
}
#: A response as described for each operation, by its name: iTwins in both forms, and objects of each kind.
DESCRIBED: dict[str, dict[str, Any]] = {
    "iTwins": {"iTwins": [ITWIN, {name: ITWIN[name] for name in SUMMARY}, ITWIN], "_links": LINKS},
    "objects": {
        "objects": [OBJECT | {"kind": kind, "data": data} for kind, data in DATA.items()],
        "sceneContext": CONTEXT,
        "_links": {"self": LINKS["self"]},
    },
    "scene": {
        "scene": SCENE
        | {"sceneData": {"objects": [CREATED | {"kind": kind, "data": data} for kind, data in DATA.items()]}}
    },
    "account": {"iTwin": {name: ITWIN[name] for name in SUMMARY}},
    "repository": {"repository": REPOSITORY},
    "resource": {"resource": RESOURCE_OF_REPOSITORY | {"type": "Layer", "capabilities": {"graphics": {"uri": "x"}}}},
    "detector": {"detector": {"name": "n", "displayName": "N", "description": None, "type": "t", "versions": [{}]}},
    "webhook": WEBHOOK,
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


#: By the name of what a response holds: what reads it, and its model.
RESPONSES: dict[str, tuple[Callable[[httpx.Response], object], type[Any]]] = {
    "iTwins": (list_itwins.parse_response, ITwinsResponse),
    "objects": (list_scene_objects.parse_response, SceneObjectsResponse),
    "scene": (create_scene.parse_response, SceneResponse),
    "account": (get_primary_account.parse_response, PrimaryAccountResponse),
    "repository": (update_repository.parse_response, RepositoryResponse),
    "resource": (create_repository_resource.parse_response, ResourceResponse),
    "detector": (create_detector.parse_response, DetectorResponse),
    "webhook": (update_webhook.parse_response, Webhook),
}


def parsed(name: str, body: bytes) -> object:
    """Parse a response as the client does; return None for what it rejects."""
    try:
        return RESPONSES[name][0](httpx.Response(200, content=body))
    except Exception:  # noqa: BLE001  # both ways must reject it, with whatever error
        return None


def has_result(value: object) -> bool:
    """Tell whether a response has something to return: a list of objects, or an object as its only property."""
    if not isinstance(value, dict):
        return False
    for name in ("iTwins", "objects"):
        items = value.get(name)
        if items is not None and not (isinstance(items, list) and all(isinstance(item, dict) for item in items)):
            return False
    results = [value.get(name) for name in ("scene", "iTwin", "repository", "resource", "detector")]
    return all(each is None or isinstance(each, dict) for each in results)


def made_of_dictionaries(name: str, body: bytes) -> object:
    """Make the models of the dictionaries that the json module returns; None where there is nothing to return."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    made: object = RESPONSES[name][1].from_dict(value) if has_result(value) else None
    return made


def different(name: str, *, count: int, seed: int = 15) -> list[bytes]:
    """Return the responses, of `count` mutated ones, that are not read as the models are made of dictionaries."""
    source = random.Random(seed)  # noqa: S311  # no secret
    bodies = (mutated(name, source) for _ in range(count))
    return [body for body in bodies if shape(parsed(name, body)) != shape(made_of_dictionaries(name, body))]
