"""The rules of a scene in a request. Source: sections 2.6, 2.7 and 4.5."""

import re
from collections.abc import Callable, Iterator, Set

from .body import is_number, is_uuid
from .errors import Detail, InvalidRequest
from .json_values import JSON, JSONObject

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
    seen = set(taken_ids)
    for index, item in enumerate(objects):
        found += _object_problems(f"sceneData.objects[{index}]", item, seen)
    return found


def _object_problems(target: str, item: JSON, seen: set[str]) -> Iterator[Detail]:
    if not isinstance(item, dict):
        yield _invalid(target, f"{target} must be an object.")
        return
    yield from _rule_problems(f"{target}.", item, OBJECT_RULES)
    object_id = str(item["id"]).lower() if "id" in item else None
    if object_id in seen:
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
