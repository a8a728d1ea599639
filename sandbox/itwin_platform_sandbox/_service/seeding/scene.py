"""One scene whose objects are of several kinds. Source: section 2.7."""

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from ..json_values import JSON, JSONObject
from ..state import Platform, StoredScene, new_uuid, time_text

CREATED = datetime(2024, 5, 14, 9, 26, 53, 589000, tzinfo=UTC)
# The repeated sequence of kinds. The specification does not have the data of the last two, which is made up.
KINDS = ("RepositoryResource", "View3d", "RepositoryResource", "Layer", "GISStyling")


def seed_scene(
    platform: Platform, itwin_id: str, repository_ids: Mapping[str, str], count: int, source: random.Random
) -> str:
    """Store the scene; every tenth object refers to an iTwin of its own. Return the id of the scene."""
    scene_id = new_uuid(source)
    content: JSONObject = {
        "id": scene_id,
        "displayName": "Design review",
        "description": "What was agreed on in the design review.",
        "iTwinId": itwin_id,
        "createdById": platform.user_id,
        "creationTime": time_text(CREATED),
        "lastModified": time_text(CREATED + timedelta(minutes=count)),
    }
    scene = StoredScene(content=content)
    platform.scenes[scene_id] = scene
    itwin_ids = list(platform.itwins)
    for index in range(count):
        owner = itwin_ids[index % len(itwin_ids)] if index % 10 == 0 else itwin_id
        scene.objects.append(_object(platform, scene, index, owner, repository_ids, source))
    return scene_id


def _object(
    platform: Platform,
    scene: StoredScene,
    index: int,
    owner: str,
    repository_ids: Mapping[str, str],
    source: random.Random,
) -> JSONObject:
    kind = KINDS[index % len(KINDS)]
    time = time_text(CREATED + timedelta(minutes=index))
    item: JSONObject = {
        "id": new_uuid(source),
        "displayName": f"{kind} {index}",
        "order": index,
        "visible": index % 4 != 3,
        "version": "1.0.0",
        "kind": kind,
        "data": _data(kind, index, owner, repository_ids),
        "sceneId": scene.content["id"],
        "createdById": platform.user_id,
        "creationTime": time,
        "lastModified": time,
    }
    if kind == "GISStyling":
        # A styling object names its repository resource; the latest one is two objects before it.
        item["relatedId"] = scene.objects[index - 2]["id"]
    return item


def _data(kind: str, index: int, owner: str, repository_ids: Mapping[str, str]) -> JSON:
    if kind == "RepositoryResource":
        return {
            "iTwinId": owner,
            "repositoryId": repository_ids["WebMapService"],
            "id": f"layers/{index}",
            "class": "GeographicInformationSystem",
            "subClass": "WebMapService",
        }
    if kind == "View3d":
        return _view(index)
    if kind == "Layer":
        return {"opacity": 0.5 + index % 5 / 10, "group": "Background"}
    return {"opacity": 0.75}


def _view(index: int) -> JSON:
    angle = index / 10
    return {
        "position": {"x": 100.5 + index, "y": -20.25, "z": 42.0},
        "direction": {"x": math.cos(angle), "y": math.sin(angle), "z": 0.0},
        "up": {"x": 0.0, "y": 0.0, "z": 1.0},
        "isOrthographic": False,
        "aspectRatio": 1.7778,
        "near": 0.1,
        "far": 10000.0,
        "fov": 1.0472,
        "width": 250.0,
        "ecefTransform": [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    }
