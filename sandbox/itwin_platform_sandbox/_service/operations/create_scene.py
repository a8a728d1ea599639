"""Create scene. Source: section 4.5."""

import copy

from ..body import is_uuid, read_object
from ..errors import Detail, ErrorResponse, insufficient_permissions
from ..json_values import JSON, JSONObject
from ..messages import OperationRequest, ServiceResponse
from ..scene_rules import INVALID, scene_problems
from ..state import Platform, StoredScene

LARGEST_BODY = 4_718_592  # 4.5 MiB. Source: section 8.
# Source: section 4.5, "Response objects carry the fields ...".
RETURNED_FIELDS = ("id", "displayName", "visible", "kind", "version", "data")


def create_scene(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the scene with its objects and return it. Source: section 4.5."""
    itwin_id = _itwin_id(request)
    if itwin_id in platform.itwins and not request.caller.has_access_to(itwin_id):
        raise insufficient_permissions("The caller is not a member of the iTwin.")
    if len(request.body) > LARGEST_BODY:
        raise ErrorResponse(413, "RequestTooLarge", "The request body is larger than 4.5 MiB.")
    body = read_object(request, INVALID)
    INVALID.reject_any(scene_problems(body, _stored_object_ids(platform)))
    objects = _objects(body)
    _check_references(platform, request, itwin_id, body, objects)
    scene = _store(platform, itwin_id, body, objects)
    returned: list[JSON] = [
        {name: item[name] for name in RETURNED_FIELDS if name in item} for item in copy.deepcopy(scene.objects)
    ]
    return ServiceResponse(201, {"scene": {**scene.content, "sceneData": {"objects": returned}}})


def _itwin_id(request: OperationRequest) -> str:
    itwin_id = request.query.get("iTwinId")
    if not is_uuid(itwin_id):
        INVALID.reject(Detail("InvalidParameter", "iTwinId", "The query parameter iTwinId must be a UUID."))
    return str(itwin_id).lower()


def _stored_object_ids(platform: Platform) -> set[str]:
    return {str(item["id"]).lower() for scene in platform.scenes.values() for item in scene.objects}


def _objects(body: JSONObject) -> list[JSONObject]:
    data = body.get("sceneData", {})
    objects = data.get("objects", []) if isinstance(data, dict) else []
    return [item for item in objects if isinstance(item, dict)] if isinstance(objects, list) else []


def _check_references(
    platform: Platform, request: OperationRequest, itwin_id: str, body: JSONObject, objects: list[JSONObject]
) -> None:
    parent = platform.scenes.get(str(body["parentId"]).lower()) if "parentId" in body else None
    if itwin_id not in platform.itwins or ("parentId" in body and parent is None):
        raise ErrorResponse(404, "SceneNotFound", "The iTwin or the parent scene is not available.")
    if any(not may_see(request, item) for item in objects):
        raise insufficient_permissions("The caller has no access to an iTwin that an object refers to.")
    if "id" in body and str(body["id"]).lower() in platform.scenes:
        raise ErrorResponse(409, "SceneExists", "A scene with the same id exists.")


def may_see(request: OperationRequest, item: JSONObject) -> bool:
    """Return whether the caller has access to the iTwin that a RepositoryResource object refers to."""
    data = item["data"]
    if item["kind"] != "RepositoryResource" or not isinstance(data, dict) or "iTwinId" not in data:
        return True
    return request.caller.has_access_to(str(data["iTwinId"]))


def _store(platform: Platform, itwin_id: str, body: JSONObject, objects: list[JSONObject]) -> StoredScene:
    time = platform.time()
    scene_id = str(body.get("id") or platform.new_id())
    content: JSONObject = {"id": scene_id, "displayName": body["displayName"]}
    content.update({name: body[name] for name in ("description", "parentId") if name in body})
    content.update(iTwinId=itwin_id, createdById=platform.user_id, creationTime=time, lastModified=time)
    stamps: JSONObject = {"sceneId": scene_id, "createdById": platform.user_id}
    stored = [
        {"id": platform.new_id(), **item, **stamps, "creationTime": time, "lastModified": time} for item in objects
    ]
    scene = StoredScene(content=content, objects=stored)
    platform.scenes[scene_id.lower()] = scene
    return scene
