"""The bodies that the benchmark server answers with, prepared once."""

import json
import random
import uuid
from functools import cache

_random = random.Random(1)

SCENE_ID = "6a2d2381-6c57-4332-b87a-5b7c00000000"


def identifier() -> str:
    """Returns the next id of a fixed series."""
    return str(uuid.UUID(int=_random.getrandbits(128), version=4))


def itwin(number: int) -> dict[str, object]:
    """Returns a full iTwin."""
    return {
        "id": identifier(),
        "class": "Endeavor",
        "subClass": "Project",
        "type": "Construction Project",
        "number": f"P-{number:06}",
        "displayName": f"Bridge over the river {number}",
        "geographicLocation": "Exton, PA",
        "latitude": 40.028 + number / 1e5,
        "longitude": -75.621 - number / 1e5,
        "ianaTimeZone": "America/New_York",
        "dataCenterLocation": "East US",
        "status": "Active",
        "parentId": identifier(),
        "iTwinAccountId": identifier(),
        "imageName": None,
        "image": None,
        "createdDateTime": "2021-09-14T20:14:31.130Z",
        "createdBy": identifier(),
        "lastModifiedDateTime": "2023-03-01T08:00:00.000Z",
        "lastModifiedBy": identifier(),
    }


def view3d() -> dict[str, object]:
    """Returns the data of a View3d."""
    point = {"x": 1287340.25, "y": -4732110.5, "z": 4085021.125}
    return {
        "position": point,
        "direction": {"x": 0.25, "y": 0.5, "z": -0.75},
        "up": {"x": 0.0, "y": 0.0, "z": 1.0},
        "isOrthographic": False,
        "aspectRatio": 1.7778,
        "near": 0.1,
        "far": 10000.0,
        "fov": 1.0472,
        "ecefTransform": [1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 1.0],
    }


def scene_object(number: int) -> dict[str, object]:
    """Returns a listed scene object of kind View3d."""
    return {
        "id": identifier(),
        "displayName": f"View {number}",
        "order": number,
        "visible": True,
        "version": "1.0.0",
        "kind": "View3d",
        "data": view3d(),
        "sceneId": identifier(),
        "createdById": identifier(),
        "creationTime": "2025-05-04T04:14:08.120Z",
        "lastModified": "2025-05-04T04:14:37.203Z",
    }


def new_object(number: int) -> dict[str, object]:
    """Returns a scene object to create."""
    return {"displayName": f"View {number}", "kind": "View3d", "version": "1.0.0", "data": view3d()}


ACCOUNT: dict[str, object] = {
    "iTwin": {
        "id": identifier(),
        "class": "Account",
        "subClass": "Account",
        "type": None,
        "number": "ACC-1",
        "displayName": "Northwind Engineering",
        "status": "Active",
    }
}
REPOSITORY: dict[str, object] = {
    "repository": {
        "id": identifier(),
        "class": "GeographicInformationSystem",
        "subClass": "UrlTemplate",
        "displayName": "Base map",
        "uri": "https://tiles.example.com/{level}/{column}/{row}",
        "capabilities": {"resources": {"uri": "https://example.com/resources"}},
        "authentication": {"type": "Basic", "username": "u", "password": "p"},
        "options": {"queryParameters": {"style": "dark"}, "minimumLevel": 0, "maximumLevel": 18},
    }
}
NEW_OBJECTS = [new_object(number) for number in range(100)]
SCENE: dict[str, object] = {
    "scene": {
        "id": identifier(),
        "displayName": "Harbour",
        "iTwinId": identifier(),
        "createdById": identifier(),
        "creationTime": "2025-05-04T04:14:08.120Z",
        "lastModified": "2025-05-04T04:14:08.120Z",
        "sceneData": {"objects": [{"id": identifier(), "visible": True, **item} for item in NEW_OBJECTS]},
    }
}


# Not made before they are asked for: a client that held them would pay for them in each collection of garbage.
@cache
def itwins() -> list[dict[str, object]]:
    """Returns the iTwins of the listings."""
    return [itwin(number) for number in range(10_000)]


@cache
def objects() -> list[dict[str, object]]:
    """Returns the scene objects of the listings."""
    return [scene_object(number) for number in range(5_000)]


def encoded(value: object) -> bytes:
    """Writes a value as the service does."""
    return json.dumps(value, separators=(",", ":")).encode()
