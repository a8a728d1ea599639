"""Create scene and List scene objects. Source: sections 2.6, 2.7, 4.5 and 4.6."""

import re
from collections.abc import Callable, Iterator, Set

from .credentials import Caller
from .itwins import parse_integer
from .json_values import JSON, JSONObject
from .messages import (
    Detail,
    ErrorResponse,
    InvalidRequest,
    OperationRequest,
    ServiceResponse,
    insufficient_permissions,
    is_number,
    is_uuid,
    read_object,
)
from .paging import paging_links
from .state import Platform, StoredScene

INVALID = InvalidRequest(400, "InvalidScenesRequest", "The request to create a scene is not valid.")
MOST_OBJECTS = 100

# https://semver.org, the suggested regular expression, written shorter.
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9a-z-]+(\.[0-9a-z-]+)*)?",
    re.IGNORECASE | re.ASCII,
)

Check = Callable[[JSON], bool]


def _is_text(value: JSON) -> bool:
    return isinstance(value, str)


def _is_boolean(value: JSON) -> bool:
    return isinstance(value, bool)


def _is_object(value: JSON) -> bool:
    return isinstance(value, dict)


def _is_semver(value: JSON) -> bool:
    return isinstance(value, str) and _SEMVER.fullmatch(value) is not None


def _is_vector(value: JSON) -> bool:
    return isinstance(value, dict) and all(is_number(value[axis]) for axis in "xyz" if axis in value)


def _is_matrix(value: JSON) -> bool:
    return isinstance(value, list) and len(value) == 16 and all(is_number(number) for number in value)


# name -> (required, check, description of a valid value)
Rules = dict[str, tuple[bool, Check, str]]

SCENE_RULES: Rules = {
    "id": (False, is_uuid, "a UUID"),
    "displayName": (True, _is_text, "a string"),
    "description": (False, _is_text, "a string"),
    "parentId": (False, is_uuid, "a UUID"),
    "sceneData": (False, _is_object, "an object with a list of objects"),
}
OBJECT_RULES: Rules = {
    "id": (False, is_uuid, "a UUID"),
    "displayName": (False, _is_text, "a string"),
    "order": (False, is_number, "a number"),
    "visible": (False, _is_boolean, "true or false"),
    "version": (True, _is_semver, "a semantic version such as 1.0.0"),
    "kind": (True, _is_text, "a string"),
    "parentId": (False, is_uuid, "a UUID"),
    "relatedId": (False, is_uuid, "a UUID"),
    "data": (True, _is_object, "an object"),
}
# Resource styling objects, as the platform's own scenes client groups the kinds. Source of the rule: section 2.7.
RESOURCE_STYLING_KINDS = frozenset(
    {
        "ExpressionStyling",
        "GISStyling",
        "GeospatialFeatureStyling",
        "RealityDataStyling",
        "ResourceSettings",
        "ScheduleSimulation",
        "iModelVisibility",
    }
)
# A kind in neither set may or may not be a resource styling object.
OTHER_KINDS = frozenset(
    {
        "CameraAnimation",
        "Cutout",
        "GoogleTilesStyling",
        "ITwinDisplayStyleOptions",
        "Layer",
        "MaterialDecoration",
        "Movie",
        "Repository",
        "RepositoryResource",
        "UnrealAtmosphericStyling",
        "View3d",
    }
)
# The structures of all other kinds are not shown, so their data is only checked to be an object. Section 2.7 marks no
# field of these two as required.
DATA_RULES: dict[str, Rules] = {
    "RepositoryResource": {
        "iTwinId": (False, is_uuid, "a UUID"),
        "repositoryId": (False, _is_text, "a string"),
        "id": (False, _is_text, "a string"),
        "class": (False, _is_text, "a string"),
        "subClass": (False, _is_text, "a string"),
    },
    "View3d": {
        "position": (False, _is_vector, "an object with numbers x, y and z"),
        "direction": (False, _is_vector, "an object with numbers x, y and z"),
        "up": (False, _is_vector, "an object with numbers x, y and z"),
        "isOrthographic": (False, _is_boolean, "true or false"),
        "aspectRatio": (False, is_number, "a number"),
        "near": (False, is_number, "a number"),
        "far": (False, is_number, "a number"),
        "fov": (False, is_number, "a number"),
        "width": (False, is_number, "a number"),
        "ecefTransform": (False, _is_matrix, "16 numbers"),
    },
}


def scene_problems(body: JSONObject, taken_ids: Set[str]) -> list[Detail]:
    """Return everything wrong with the body of Create scene; `taken_ids` are object ids in lower case."""
    found = list(_rule_problems("", body, SCENE_RULES))
    scene_data = body.get("sceneData")
    if not isinstance(scene_data, dict):
        return found
    objects = scene_data.get("objects", [])  # section 2.7 marks no property as required
    if not isinstance(objects, list):
        return [*found, _invalid("sceneData.objects", "sceneData.objects must be a list.")]
    if len(objects) > MOST_OBJECTS:
        return [*found, _invalid("sceneData.objects", f"A request can carry at most {MOST_OBJECTS} objects.")]
    seen: set[str] = set()
    for index, item in enumerate(objects):
        found += _object_problems(f"sceneData.objects[{index}]", item, seen, taken_ids)
    return found


def _object_problems(target: str, item: JSON, seen: set[str], taken_ids: Set[str]) -> Iterator[Detail]:
    if not isinstance(item, dict):
        yield _invalid(target, f"{target} must be an object.")
        return
    yield from _rule_problems(f"{target}.", item, OBJECT_RULES)
    object_id = str(item["id"]).lower() if "id" in item else None
    if object_id in seen or object_id in taken_ids:
        yield _invalid(f"{target}.id", f"{target}.id is not unique.")
    if object_id is not None:
        seen.add(object_id)
    kind, data = str(item.get("kind")), item.get("data")
    if kind in DATA_RULES and isinstance(data, dict):
        yield from _rule_problems(f"{target}.data.", data, DATA_RULES[kind])
    if kind in RESOURCE_STYLING_KINDS and "relatedId" not in item:
        yield _invalid(f"{target}.relatedId", f"{target}.relatedId is required for resource styling objects.")
    if kind in OTHER_KINDS and "relatedId" in item:
        yield _invalid(f"{target}.relatedId", f"{target}.relatedId is allowed for resource styling objects only.")


def _rule_problems(prefix: str, value: JSONObject, rules: Rules) -> Iterator[Detail]:
    for name, (required, fits, what) in rules.items():
        if name not in value:
            if required:
                yield _invalid(prefix + name, f"{prefix}{name} is required.")
        elif not fits(value[name]):
            yield _invalid(prefix + name, f"{prefix}{name} must be {what}.")


def _invalid(target: str, message: str) -> Detail:
    return Detail("InvalidRequestBody", target, message)


LARGEST_BODY = 4_718_592  # 4.5 MiB. Source: section 8.
# Source: section 4.5, "Response objects carry the fields ...".
RETURNED_FIELDS = ("id", "displayName", "visible", "kind", "version", "data")


def create_scene(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the scene with its objects and return it. Source: section 4.5."""
    itwin_id = _itwin_id(request)
    if itwin_id in platform.itwins and not request.caller.has_access_to(itwin_id):
        raise insufficient_permissions("The caller is not a member of the iTwin.")
    if len(request.body.content) > LARGEST_BODY:
        raise ErrorResponse(413, "RequestTooLarge", "The request body is larger than 4.5 MiB.")
    body = read_object(request, INVALID)
    INVALID.reject_any(scene_problems(body, platform.object_ids))
    objects = _objects(body)
    _check_references(platform, request, itwin_id, body, objects)
    scene = _store(platform, itwin_id, body, objects)
    returned: list[JSON] = [{name: item[name] for name in RETURNED_FIELDS if name in item} for item in scene.objects]
    return ServiceResponse(201, {"scene": {**scene.content, "sceneData": {"objects": returned}}})


def _itwin_id(request: OperationRequest) -> str:
    itwin_id = request.query.get("iTwinId")
    if not is_uuid(itwin_id):
        INVALID.reject(Detail("InvalidParameter", "iTwinId", "The query parameter iTwinId must be a UUID."))
    return str(itwin_id).lower()


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
    if any(not may_see(request.caller, item) for item in objects):
        raise insufficient_permissions("The caller has no access to an iTwin that an object refers to.")
    if "id" in body and str(body["id"]).lower() in platform.scenes:
        raise ErrorResponse(409, "SceneExists", "A scene with the same id exists.")


def may_see(caller: Caller, item: JSONObject) -> bool:
    """Return whether the caller has access to the iTwin that a RepositoryResource object refers to."""
    data = item["data"]
    if item["kind"] != "RepositoryResource" or not isinstance(data, dict) or "iTwinId" not in data:
        return True
    return caller.has_access_to(str(data["iTwinId"]))


def _store(platform: Platform, itwin_id: str, body: JSONObject, objects: list[JSONObject]) -> StoredScene:
    time = platform.time()
    scene_id = str(body.get("id") or platform.new_id())
    content: JSONObject = {"id": scene_id, "displayName": body["displayName"]}
    content.update({name: body[name] for name in ("description", "parentId") if name in body})
    content.update(iTwinId=itwin_id, createdById=platform.user_id, creationTime=time, lastModified=time)
    stamps: JSONObject = {"sceneId": scene_id, "createdById": platform.user_id}
    stored = tuple(
        {"id": platform.new_id(), **item, **stamps, "creationTime": time, "lastModified": time} for item in objects
    )
    scene = StoredScene(content=content, objects=stored)
    platform.store_scene(scene)
    return scene


LARGEST_PAGE = 100
# The specification names `kind` and mentions others; the service was observed to support these two.
ORDERS: dict[str, Callable[[JSONObject], object]] = {
    "kind": lambda item: str(item["kind"]),
    "displayName": lambda item: str(item.get("displayName", "")).casefold(),
    "order": lambda item: item.get("order", 0),
}


def list_scene_objects(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return one page of the objects that the caller may see. Source: section 4.6."""
    order, skip, top = _read_query(request)
    scene = _scene(platform, request)
    caller = request.caller

    def select() -> list[JSONObject]:
        seen = (item for item in scene.objects if may_see(caller, item))
        return sorted(seen, key=ORDERS[order])  # type: ignore[arg-type] # each order has keys of one type

    visible = scene.selections.get((order, caller.organization_administrator, caller.member_of), select)
    page: list[JSON] = [*visible[skip : skip + top]]
    query = {"orderBy": "kind", **request.query}
    body: JSON = {
        "objects": page,
        "sceneContext": {
            "displayName": scene.content["displayName"],
            "lastModified": scene.content["lastModified"],
            "isPartial": len(visible) < len(scene.objects),
        },
        "_links": paging_links(request.url, query, skip=skip, top=top, total=len(visible)),
    }
    return ServiceResponse(200, body)


def _scene(platform: Platform, request: OperationRequest) -> StoredScene:
    itwin_id = request.query["iTwinId"].lower()
    scene = platform.scenes.get(request.path_parameters["sceneId"].lower())
    if scene is None or scene.content["iTwinId"] != itwin_id or not request.caller.has_access_to(itwin_id):
        raise _not_found()
    return scene


def _read_query(request: OperationRequest) -> tuple[str, int, int]:
    query = request.query
    order = query.get("orderBy", "kind")
    skip = parse_integer(query.get("$skip", "0"))
    top = parse_integer(query.get("$top", str(LARGEST_PAGE)))
    problems = []
    if "iTwinId" not in query:
        problems.append(Detail("InvalidParameter", "iTwinId", "The query parameter iTwinId is required."))
    if order not in ORDERS:
        problems.append(Detail("InvalidValue", "orderBy", f"orderBy must be one of {', '.join(ORDERS)}."))
    if skip is None or skip < 0:
        problems.append(Detail("InvalidValue", "$skip", "$skip must be a non-negative integer."))
    if top is None or not 1 <= top <= LARGEST_PAGE:
        problems.append(Detail("InvalidValue", "$top", f"$top must be a positive integer up to {LARGEST_PAGE}."))
    if problems or skip is None or top is None:
        # The specification has no other error for a wrong request of this operation.
        raise _not_found(problems)
    return order, skip, top


def _not_found(details: list[Detail] | None = None) -> ErrorResponse:
    return ErrorResponse(404, "SceneObjectNotFound", "Requested scene objects are not available.", details or [])
