"""What was observed on the wire and the specification does not have: values, times, shapes, errors and headers."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from .._service.json_values import JSON, JSONObject
from .._service.messages import APIRequest, ServiceResponse
from .changes import ChangeContext, copy_of, items_of, object_at, objects_in
from .scripted_responses import gateway_401_body

QUERY_SCOPE = "x-itwin-query-scope"
REPOSITORY_CLASSES = ("Cesium", "Google", "Issues", "ProjectWise")
ABSENT = object()
SUB_CLASSES = ("MapServer", None, ABSENT)
EVENT_TYPES = ("accessControl.memberRoleUpdated.v1", "realityModeling.jobCompleted.v2")
KINDS = (
    "Layer",
    "Repository",
    "CameraAnimation",
    "Movie",
    "Cutout",
    "MaterialDecoration",
    "GoogleTilesStyling",
    "ITwinDisplayStyleOptions",
    "UnrealAtmosphericStyling",
    "ExpressionStyling",
    "GeospatialFeatureStyling",
    "GISStyling",
    "RealityDataStyling",
    "iModelVisibility",
    "ScheduleSimulation",
    "ResourceSettings",
)
TIME_FIELDS = ("createdDateTime", "lastModifiedDateTime", "creationTime", "lastModified", "created", "modified")


def names_any_query_scope(request: APIRequest) -> bool:
    """Return whether the request has the query scope `all`, which the specification does not have."""
    return request.headers.get(QUERY_SCOPE) == "all"


def accept_any_query_scope(request: APIRequest) -> APIRequest:
    """Return the request with the documented scope that is closest to `all`."""
    return replace(request, headers={**request.headers, QUERY_SCOPE: "OrganizationAdmin"})


def enum_values(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Use classes, subclasses, kinds and event types that the specification does not have."""
    changed, body = copy_of(response)
    number = context.number
    repository = object_at(body, "repository")
    if repository:
        repository["class"] = REPOSITORY_CLASSES[number % len(REPOSITORY_CLASSES)]
        _set_or_remove(repository, "subClass", SUB_CLASSES[number % len(SUB_CLASSES)])
    resource = object_at(body, "resource")
    if resource:
        resource["class"] = "Cesium"
        resource.pop("subClass", None)
    event_types = body.get("eventTypes")
    if isinstance(event_types, list):
        event_types.extend(EVENT_TYPES)
    for index, item in enumerate(objects_in(body.get("objects"))):
        _change_kind(item, index)
    return changed


def _set_or_remove(item: JSONObject, name: str, value: object) -> None:
    if value is None or isinstance(value, str):
        item[name] = value
    else:
        item.pop(name, None)


def _change_kind(item: JSONObject, index: int) -> None:
    """Cycle through the kinds without documented data, one of them in two versions with different data."""
    if item.get("kind") not in KINDS:
        return
    item["kind"] = KINDS[index % len(KINDS)]
    if item["kind"] == "GISStyling":
        second = index // len(KINDS) % 2 == 1
        item["version"] = "2.0.0" if second else "1.0.0"
        item["data"] = {"style": {"opacity": 75}} if second else {"opacity": 0.75}


def times(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Write times of iTwins without zone and with 2 to 7 digits, of scenes with none or three, others with seven."""
    changed, body = copy_of(response)
    for index, item in enumerate([*items_of(body), object_at(body, "sceneContext")]):
        for name in TIME_FIELDS:
            if isinstance(item.get(name), str):
                item[name] = _time(context.operation_name, str(item[name]), context.number + index)
    return changed


def _time(operation: str, text: str, number: int) -> JSON:
    digits = _seven_digits(text)
    if operation == "list_itwins":
        return digits[: len(digits) - 5 + number % 6]
    if "scene" in operation:
        return text if number % 2 else digits.partition(".")[0] + "Z"
    return digits + "Z"


def _seven_digits(text: str) -> str:
    """Return the time to ten millionths of a second, without a zone."""
    time = datetime.fromisoformat(text)
    return f"{time:%Y-%m-%dT%H:%M:%S.%f}6"


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


def _seen_scene(body: JSONObject, _: int) -> JSON:
    scene = object_at(body, "scene")
    scene.update(tags=[], lastModifiedById=scene.get("createdById"))
    return body


def _seen_scene_objects(body: JSONObject, number: int) -> JSON:
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
    "create_scene": _seen_scene,
    "list_scene_objects": _seen_scene_objects,
    "create_detector": _detector,
    "update_webhook": _webhook,
}


# (status, operation or empty for every one) -> code
SEEN_CODES = {
    (401, ""): "Unauthorized",
    (429, ""): "TooManyRequests",
    (404, "update_repository"): "iTwinNotFound",
    (404, "create_repository_resource"): "iTwinNotFound",
    (404, "create_detector"): "DetectorNotFound",
}


def errors(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Change codes and omit targets; every second 401 has the body of the gateway."""
    if response.status == 401 and context.number % 2:
        return replace(response, body=gateway_401_body())
    changed, body = copy_of(response)
    error = object_at(body, "error")
    for operation in (context.operation_name, ""):
        if (response.status, operation) in SEEN_CODES:
            error["code"] = SEEN_CODES[response.status, operation]
    for detail in objects_in(error.get("details")):
        detail.pop("target", None)
    return changed


def headers(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Add correlation id, media type, region, tier and, with 429, the limited scope; compress if gzip is accepted."""
    request = context.request
    correlation_id = request.headers.get("x-correlation-id") or context.platform.new_id()
    named = [name for name, _ in response.headers]
    added = [("X-ITwinPlatform-Region", "East US"), ("Tier", "Trial")]
    if "x-correlation-id" not in named:
        added.append(("x-correlation-id", correlation_id))
    vendor = re.search(r"vnd\.([a-z0-9_.-]+)\.itwin-platform", request.headers.get("accept", ""), re.IGNORECASE)
    if context.operation is not None and vendor is not None:
        media_type = f"{vendor[1]}.itwin-platform.v{context.operation.version}+json"
        added.append(("X-ITwinPlatform-Media-Type", f"application/vnd.{media_type}"))
    if response.status == 429:
        values = {"Tier": "Trial", "API": "itwins", "Operation": context.operation_name, "Application": "sandbox"}
        added += [(f"ITwinPlatform-RateLimited-{name}", value) for name, value in values.items()]
    if "gzip" in request.headers.get("accept-encoding", ""):
        added.append(("content-encoding", "gzip"))
    return replace(response, headers=(*response.headers, *added))
