"""Enum values and forms of times that were observed and that the specification does not have."""

from dataclasses import replace
from datetime import datetime

from ..._service.json_values import JSON, JSONObject
from ..._service.messages import APIRequest, ServiceResponse
from .context import ChangeContext, copy_of, items_of, object_at, objects_in

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
