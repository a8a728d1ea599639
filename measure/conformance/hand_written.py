"""Send the requests of clients that are not installed here, and check the responses as these clients do.

The requests have the forms of `scenes-client` 0.13 and of the Python SDK `reality-capture` 2.6: their headers, their
queries, and null for what they do not set.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from itwin_platform_sandbox import Sandbox

from .itwins_client import Row

V1 = "application/vnd.bentley.itwin-platform.v1+json"
V2 = "application/vnd.bentley.itwin-platform.v2+json"
SCENES_CLIENT, REALITY_CAPTURE = "scenes-client 0.13", "reality-capture 2.6"
# The fetch of scenes-client sends `Accept` unchanged, and no charset with its JSON.
SCENES_HEADERS = {"Authorization": "Bearer any-word", "Accept": V1}
OBJECTS = 250
STYLED_ID = "7f2c1f8e-0000-4332-a87a-5b7c00000000"
VIEW = {
    "position": {"x": 1, "y": 2, "z": 3},
    "direction": {"x": 0, "y": 1, "z": 0},
    "up": {"x": 0, "y": 0, "z": 1},
}


def is_scene_object(value: Any) -> bool:
    """Return whether scenes-client accepts an object."""
    optional: dict[str, type | tuple[type, ...]] = {
        "displayName": str,
        "order": (int, float),
        "displayOrder": (int, float),
        "visible": bool,
    }
    optional |= {"parentId": str, "relatedId": str}
    stamps = ("id", "sceneId", "createdById", "creationTime", "lastModified", "version", "kind")
    return (
        all(isinstance(value.get(name), str) for name in stamps)
        and all(isinstance(value[name], kind) for name, kind in optional.items() if name in value)
        and isinstance(value.get("data"), dict)
    )


def is_page_of_objects(body: Any) -> bool:
    """Return whether scenes-client accepts a page; it rejects a null link."""
    links, context = body["_links"], body["sceneContext"]
    named = all(isinstance(links[name]["href"], str) for name in ("self", "prev", "next") if name in links)
    described = all(isinstance(context[name], str) for name in ("displayName", "lastModified"))
    return named and described and all(map(is_scene_object, body["objects"]))


def is_scene(body: Any, *, as_seen: bool) -> bool:
    """Return whether scenes-client accepts a scene; the specification has no tags."""
    scene = body["scene"]
    names = ("id", "displayName", "createdById", "iTwinId", "creationTime", "lastModified")
    tags = isinstance(scene.get("tags"), list) or not as_seen
    return (
        tags and all(isinstance(scene[name], str) for name in names) and isinstance(scene["sceneData"]["objects"], list)
    )


def is_new_detector(body: Any) -> bool:
    """Return whether reality-capture accepts a new detector, which has no versions."""
    detector = body["detector"]
    types = ("PhotoObjectDetector", "PhotoSegmentationDetector", "OrthophotoSegmentationDetector")
    return detector["name"] == "@team/cracks" and detector["type"] in types and detector["versions"] == []


def row_of(client: str, call: str, response: httpx.Response, accepts: Callable[[Any], bool]) -> Row:
    """Return the row of a call whose response the client must accept."""
    try:
        good = response.is_success and accepts(response.json())
    except (KeyError, TypeError, AttributeError):
        good = False
    return client, call, str(response.status_code), good


@dataclass(frozen=True, slots=True, kw_only=True)
class HandWrittenRequests:
    """The requests to one sandbox."""

    sandbox: Sandbox
    http: httpx.AsyncClient
    as_seen: bool

    async def all_objects(self) -> list[Row]:
        """Follow the links of a scene from its first page to its last."""
        rows: list[Row] = []
        url, count = f"{self._objects_url()}&$top=100&$skip=0&orderBy=kind", 0
        while url:
            response = await self.http.get(url.strip(), headers=SCENES_HEADERS)
            call = f"getAllObjects, page {len(rows) + 1}"
            rows.append(row_of(SCENES_CLIENT, call, response, is_page_of_objects))
            body = response.json()
            count += len(body["objects"])
            url = body["_links"].get("next", {}).get("href", "")
        return [*rows, (SCENES_CLIENT, "getAllObjects, all pages", f"{count} objects", count == OBJECTS)]

    async def ordered_objects(self) -> list[Row]:
        """List a page in each order."""
        rows: list[Row] = []
        for order in ("kind", "displayName", "order"):
            url = f"{self._objects_url()}&$top=20&$skip=10&orderBy={order}"
            response = await self.http.get(url, headers=SCENES_HEADERS)
            rows.append(row_of(SCENES_CLIENT, f"getObjects orderBy {order}", response, is_page_of_objects))
        return rows

    async def created_scenes(self) -> list[Row]:
        """Create a scene with objects of four kinds, and one without objects."""
        resource = {"iTwinId": self.sandbox.itwin_id, "repositoryId": "iModels", "id": "x", "class": "iModels"}
        objects = [
            {"kind": "RepositoryResource", "version": "1.0.0", "id": STYLED_ID, "data": resource},
            {"kind": "View3d", "version": "1.0.0", "displayName": "Front", "order": 1, "data": VIEW},
            {"kind": "ExpressionStyling", "version": "1.0.0", "relatedId": STYLED_ID, "data": {"stylings": []}},
            {"kind": "GoogleTilesStyling", "version": "1.0.0", "data": {"quality": 0.3}},
        ]
        scene = {"displayName": "Review", "description": "d", "sceneData": {"objects": objects}}
        url = f"{self.sandbox.base_url}/scenes?iTwinId={self.sandbox.itwin_id}"
        headers = {**SCENES_HEADERS, "Content-Type": "application/json"}
        rows: list[Row] = []
        for call, body in (("postScene", scene), ("postScene without objects", {"displayName": "Empty"})):
            response = await self.http.post(url, headers=headers, content=json.dumps(body))
            rows.append(row_of(SCENES_CLIENT, call, response, lambda body: is_scene(body, as_seen=self.as_seen)))
        return rows

    async def created_detectors(self) -> list[Row]:
        """Create a detector twice, and once with the version of another operation."""
        url = f"{self.sandbox.base_url}/reality-analysis/detectors"
        headers = {"Authorization": "Bearer any-word", "User-Agent": "Reality Capture Python SDK/2.6.0"}
        headers |= {"Content-type": "application/json", "Accept": V2}
        detector = {"displayName": None, "description": None, "documentationUrl": None, "name": "@team/cracks"}
        content = json.dumps({**detector, "type": "PhotoObjectDetector"})
        rows: list[Row] = []
        for _ in range(2):
            response = await self.http.post(url, headers=headers, content=content)
            rows.append(row_of(REALITY_CAPTURE, "create_detector", response, is_new_detector))
        wrong = (await self.http.post(url, headers={**headers, "Accept": V1}, content=content)).status_code
        return [*rows, (REALITY_CAPTURE, "create_detector with v1 in Accept", str(wrong), wrong == 404)]

    def _objects_url(self) -> str:
        sandbox = self.sandbox
        return f"{sandbox.base_url}/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}"


async def hand_written(*, as_seen: bool) -> list[Row]:
    """Send the requests of both clients and return a row for each."""
    async with Sandbox(itwins=20, objects=OBJECTS, as_seen=as_seen) as sandbox, httpx.AsyncClient() as http:
        requests = HandWrittenRequests(sandbox=sandbox, http=http, as_seen=as_seen)
        return [
            *await requests.all_objects(),
            *await requests.ordered_objects(),
            *await requests.created_scenes(),
            *await requests.created_detectors(),
        ]
