"""What a scene in a request must look like. Source: sections 2.6, 2.7 and 4.5."""

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
    return isinstance(value, dict) and all(is_number(value.get(axis)) for axis in "xyz")


def _is_matrix(value: JSON) -> bool:
    return isinstance(value, list) and len(value) == 16 and all(is_number(number) for number in value)


# name -> (is it required, does the value fit, what it must be)
Rules = dict[str, tuple[bool, Check, str]]

SCENE_RULES: Rules = {
    "id": (False, is_uuid, "a UUID"),
    "displayName": (True, _is_text, "a text"),
    "description": (False, _is_text, "a text"),
    "parentId": (False, is_uuid, "a UUID"),
    "sceneData": (False, _is_object, "an object with a list of objects"),
}
OBJECT_RULES: Rules = {
    "id": (False, is_uuid, "a UUID"),
    "displayName": (False, _is_text, "a text"),
    "order": (False, is_number, "a number"),
    "visible": (False, _is_boolean, "true or false"),
    "version": (True, _is_semver, "a semantic version such as 1.0.0"),
    "kind": (True, _is_text, "a text"),
    "parentId": (False, is_uuid, "a UUID"),
    "relatedId": (False, is_uuid, "a UUID"),
    "data": (True, _is_object, "an object"),
}
# The structures of all other kinds are not shown, so their data is only checked to be an object.
DATA_RULES: dict[str, Rules] = {
    "RepositoryResource": {
        "iTwinId": (False, is_uuid, "a UUID"),
        "repositoryId": (True, _is_text, "a text"),
        "id": (True, _is_text, "a text"),
        "class": (False, _is_text, "a text"),
        "subClass": (False, _is_text, "a text"),
    },
    "View3d": {
        "position": (True, _is_vector, "a vector with x, y and z"),
        "direction": (True, _is_vector, "a vector with x, y and z"),
        "up": (True, _is_vector, "a vector with x, y and z"),
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
    """Everything wrong with the body of Create scene; object ids must not be among `taken_ids` (in lower case)."""
    found = list(_rule_problems("", body, SCENE_RULES))
    scene_data = body.get("sceneData")
    if not isinstance(scene_data, dict):
        return found
    objects = scene_data.get("objects")
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
    kind, data = item.get("kind"), item.get("data")
    if isinstance(kind, str) and kind in DATA_RULES and isinstance(data, dict):
        yield from _rule_problems(f"{target}.data.", data, DATA_RULES[kind])
        if "relatedId" in item:
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
