"""Wrappers, extra fields and omitted fields that were observed and that the specification does not have."""

from collections.abc import Callable
from dataclasses import replace

from ..._service.json_values import JSON, JSONObject
from ..._service.messages import ServiceResponse
from .context import ChangeContext, copy_of, object_at, objects_in


def shapes(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Change the response as was observed for its operation; several observed ways alternate."""
    changed, body = copy_of(response)
    change = _BY_OPERATION.get(context.operation_name)
    return replace(changed, body=change(body, context.number)) if change else changed


def _primary_account(body: JSONObject, _: int) -> JSON:
    object_at(body, "iTwin").pop("status", None)
    return body


def _repository(body: JSONObject, number: int) -> JSON:
    object_at(body, "repository").pop(("displayName", "capabilities")[number % 2], None)
    return body


def _resource(body: JSONObject, _: int) -> JSON:
    for name in ("type", "capabilities"):
        object_at(body, "resource").pop(name, None)
    return body


def _scene(body: JSONObject, _: int) -> JSON:
    scene = object_at(body, "scene")
    scene.update(tags=[], lastModifiedById=scene.get("createdById"))
    return body


def _scene_objects(body: JSONObject, number: int) -> JSON:
    for index, item in enumerate(objects_in(body.get("objects"))):
        item["lastModifiedById"] = item.get("createdById")
        if "order" in item:
            item["displayOrder"] = item["order"]
        data = object_at(item, "data")
        if item.get("kind") == "RepositoryResource":
            data["version"] = "1.0.0"
            if (number + index) % 3 == 0:
                data.pop("iTwinId", None)
        elif item.get("kind") == "View3d":
            _as_integers(data)
            for name in ("fov", "width", "isOrthographic"):
                data.pop(name, None)
    return body


def _as_integers(value: JSONObject) -> None:
    """Turn numbers without a fraction into integers."""
    for name, inner in value.items():
        if isinstance(inner, dict):
            _as_integers(inner)
        elif isinstance(inner, list):
            value[name] = [_as_integer(number) for number in inner]
        else:
            value[name] = _as_integer(inner)


def _as_integer(value: JSON) -> JSON:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _detector(body: JSONObject, _: int) -> JSON:
    detector = object_at(body, "detector")
    for name in ("displayName", "description", "documentationUrl"):
        if detector.get(name) is None:
            detector[name] = ""
    return body


def _webhook(body: JSONObject, number: int) -> JSON:
    if number % 2:
        return body
    return {"webhook": {name: value for name, value in body.items() if name not in ("created", "modified")}}


_BY_OPERATION: dict[str, Callable[[JSONObject, int], JSON]] = {
    "get_primary_account": _primary_account,
    "update_repository": _repository,
    "create_repository_resource": _resource,
    "create_scene": _scene,
    "list_scene_objects": _scene_objects,
    "create_detector": _detector,
    "update_webhook": _webhook,
}
