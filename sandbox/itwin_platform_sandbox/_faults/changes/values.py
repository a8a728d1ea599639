"""Unknown values and fields, nulls and omitted fields."""

from collections.abc import Callable, Iterator

from ..._service.json_values import JSON, JSONObject
from ..._service.messages import ServiceResponse
from .context import ChangeContext, copy_of, items_of, object_at, objects_in

UNKNOWN_VALUE = "ValueOfTomorrow"
UNKNOWN_FIELD = "fieldOfTomorrow"
# The fields whose values are enumerations, by operation. Source: section 2.
ENUMERATIONS = {
    "list_itwins": ("class", "subClass", "status", "dataCenterLocation"),
    "get_primary_account": ("class", "subClass", "status"),
    "update_repository": ("class", "subClass"),
    "create_repository_resource": ("class", "subClass"),
    "create_scene": (),
    "list_scene_objects": ("kind",),
    "create_detector": ("type",),
    "update_webhook": ("scope",),
}


def unknown_enum_values(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Set every enum to an unknown value; in a list, those of every second item."""
    changed, body = copy_of(response)
    for index, item in enumerate(items_of(body)):
        for name in ENUMERATIONS.get(context.operation_name, ()):
            if name in item and index % 2 == 0:
                item[name] = UNKNOWN_VALUE
        _extend(item, "eventTypes", "things.thingHappened.v9")
        for scene_object in _scene_objects(item):
            scene_object["kind"] = UNKNOWN_VALUE
        _replace_authentication_type(item)
    return changed


def unknown_fields(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Add unknown fields to every object."""
    changed, body = copy_of(response)
    for item in [body, *items_of(body)]:
        for inner in item.values():
            if isinstance(inner, dict):
                inner[UNKNOWN_FIELD] = "new"
        item[UNKNOWN_FIELD] = {"text": "new", "list": [1, None, True]}
    return changed


def nulls(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Set every field but the id to null."""
    return _without_values(response, lambda item, name: item.update({name: None}))


def missing_fields(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Omit every field but the id."""
    return _without_values(response, lambda item, name: item.pop(name))


def _without_values(response: ServiceResponse, remove: Callable[[JSONObject, str], object]) -> ServiceResponse:
    changed, body = copy_of(response)
    for item in list(items_of(body)):
        for name in list(item):
            if name != "id":
                remove(item, name)
    for name in list(object_at(body, "sceneContext")):
        remove(object_at(body, "sceneContext"), name)
    return changed


def _extend(item: JSONObject, name: str, value: JSON) -> None:
    values = item.get(name)
    if isinstance(values, list):
        values.append(value)


def _scene_objects(item: JSONObject) -> Iterator[JSONObject]:
    return objects_in(object_at(item, "sceneData").get("objects"))


def _replace_authentication_type(item: JSONObject) -> None:
    authentication = item.get("authentication")
    if isinstance(authentication, dict):
        authentication["type"] = UNKNOWN_VALUE
