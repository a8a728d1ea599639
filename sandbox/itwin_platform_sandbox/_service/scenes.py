"""Create scene and List scene objects. Source: sections 2.6, 2.7, 4.5 and 4.6."""

import json
from collections.abc import Callable, Iterator, Set

from .credentials import Caller
from .data_files import data_file
from .document import OperationRequest, properties_of
from .json_values import JSON, JSONObject
from .messages import ErrorResponse, ServiceResponse, insufficient_permissions
from .paging import paging_links
from .state import Platform, StoredScene

# The kinds of resource styling objects, and the other known kinds, as the platform's own scenes client groups them. An
# object of an unknown kind may have a `relatedId` or not. Source of the rule: section 2.7.
_KINDS = json.loads(data_file("_service/scene_kinds.json"))
RESOURCE_STYLING_KINDS, OTHER_KINDS = frozenset(_KINDS["styling"]), frozenset(_KINDS["others"])
# Source: section 4.5, "Response objects carry the fields ...".
RETURNED_FIELDS = tuple(properties_of("SceneObjectMinimal"))
# The specification names `kind` and mentions others; the service was observed to support these two.
ORDERS: dict[str, Callable[[JSONObject], object]] = {
    "kind": lambda item: str(item["kind"]),
    "displayName": lambda item: str(item.get("displayName", "")).casefold(),
    "order": lambda item: item.get("order", 0),
}


def create_scene(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the scene with its objects and return it. Source: section 4.5."""
    parameters, details = request.read_parameters()
    request.operation.reject_any(details)
    itwin_id = str(parameters["iTwinId"]).lower()
    if itwin_id in platform.itwins and not request.caller.has_access_to(itwin_id):
        raise insufficient_permissions("The caller is not a member of the iTwin.")
    body, details = request.read_body()
    objects = objects_of(body)
    for place, message in object_problems(objects, platform.object_ids):
        target = f"sceneData.objects{place}"
        details.append(request.operation.detail(target, f"{target} {message}."))
    request.operation.reject_any(details)
    _check_references(platform, request.caller, itwin_id, body, objects)
    scene = _store(platform, request, itwin_id, body, objects)
    returned: list[JSON] = [{name: item[name] for name in RETURNED_FIELDS if name in item} for item in scene.objects]
    return request.respond({"scene": {**scene.content, "sceneData": {"objects": returned}}})


def objects_of(body: JSONObject) -> list[JSONObject]:
    """Return the objects in the body of Create scene; the check of the document reports other values."""
    data = body.get("sceneData")
    objects = data.get("objects") if isinstance(data, dict) else None
    return [item for item in objects if isinstance(item, dict)] if isinstance(objects, list) else []


def object_problems(objects: list[JSONObject], taken_ids: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield place and message of each wrong id and `relatedId` (section 2.7), which no schema can express.

    `taken_ids` are in lower case.
    """
    taken = {*taken_ids}
    for index, item in enumerate(objects):
        object_id, kind = str(item.get("id", "")).lower(), str(item.get("kind"))
        if object_id in taken:
            yield f"[{index}].id", "is not unique"
        if object_id:
            taken.add(object_id)
        if kind in RESOURCE_STYLING_KINDS and "relatedId" not in item:
            yield f"[{index}].relatedId", "is required for resource styling objects"
        if kind in OTHER_KINDS and "relatedId" in item:
            yield f"[{index}].relatedId", "is allowed for resource styling objects only"


def _check_references(
    platform: Platform, caller: Caller, itwin_id: str, body: JSONObject, objects: list[JSONObject]
) -> None:
    parent = platform.scenes.get(str(body["parentId"]).lower()) if "parentId" in body else None
    if itwin_id not in platform.itwins or ("parentId" in body and parent is None):
        message = "The iTwin or the parent scene is not available."
        raise ErrorResponse(404, "SceneNotFound", message)
    if any(not may_see(caller, item) for item in objects):
        message = "The caller has no access to an iTwin that an object refers to."
        raise insufficient_permissions(message)
    if "id" in body and str(body["id"]).lower() in platform.scenes:
        raise ErrorResponse(409, "SceneExists", "A scene with the same id exists.")


def may_see(caller: Caller, item: JSONObject) -> bool:
    """Return whether the caller has access to the iTwin that a RepositoryResource object refers to."""
    data = item["data"]
    if item["kind"] != "RepositoryResource" or not isinstance(data, dict) or "iTwinId" not in data:
        return True
    return caller.has_access_to(str(data["iTwinId"]))


def _store(
    platform: Platform, request: OperationRequest, itwin_id: str, body: JSONObject, objects: list[JSONObject]
) -> StoredScene:
    time = platform.time()
    scene_id = str(body.get("id") or platform.new_id())
    names = request.operation.body_schema["properties"].keys() - {"id", "sceneData"}
    content: JSONObject = {"id": scene_id, **{name: value for name, value in body.items() if name in names}}
    content.update(iTwinId=itwin_id, createdById=platform.user_id, creationTime=time, lastModified=time)
    stamps: JSONObject = {"sceneId": scene_id, "createdById": platform.user_id}
    stored = tuple(
        {"id": platform.new_id(), **item, **stamps, "creationTime": time, "lastModified": time} for item in objects
    )
    scene = StoredScene(content=content, objects=stored)
    platform.store_scene(scene)
    return scene


def list_scene_objects(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return one page of the objects that the caller may see. Source: section 4.6."""
    parameters, details = request.read_parameters()
    order = str(parameters["orderBy"])
    if order and order not in ORDERS:  # the document rejects an empty one
        details.append(request.operation.detail("orderBy", f"orderBy must be one of {', '.join(ORDERS)}."))
    request.operation.reject_any(details)
    scene, caller = _scene(platform, request, str(parameters["iTwinId"]).lower()), request.caller
    visible = [item for item in scene.objects if may_see(caller, item)]
    visible.sort(key=ORDERS[order])  # type: ignore[arg-type] # each order has keys of one type
    skip, top = int(str(parameters["$skip"])), int(str(parameters["$top"]))
    query = {"orderBy": order, **request.query}
    body: JSON = {
        "objects": [*visible[skip : skip + top]],
        "sceneContext": {
            "displayName": scene.content["displayName"],
            "lastModified": scene.content["lastModified"],
            "isPartial": len(visible) < len(scene.objects),
        },
        "_links": paging_links(request.url, query, skip=skip, top=top, total=len(visible)),
    }
    return request.respond(body)


def _scene(platform: Platform, request: OperationRequest, itwin_id: str) -> StoredScene:
    scene = platform.scenes.get(request.path_parameters["sceneId"].lower())
    if scene is None or scene.content["iTwinId"] != itwin_id or not request.caller.has_access_to(itwin_id):
        message = "Requested scene objects are not available."
        raise ErrorResponse(404, "SceneObjectNotFound", message)
    return scene
