"""Finds odd fields that the documented rules allow: unknown or read-only fields, empty or implausible values.

With `strict` the sandbox rejects them as an invalid body of the operation, otherwise the journal notes them.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from .detectors import INVALID as INVALID_DETECTOR
from .json_values import JSON, JSONObject, NotJSONError
from .messages import APIRequest, Detail, InvalidRequest
from .repositories import (
    AUTHENTICATION_PROPERTIES,
    INVALID as INVALID_REPOSITORY,
    LEVELS,
    READ_ONLY as READ_ONLY_OF_REPOSITORY,
)
from .scenes import DATA_RULES, INVALID as INVALID_SCENE, OBJECT_RULES, SCENE_RULES
from .webhooks import INVALID as INVALID_WEBHOOK, READ_ONLY as READ_ONLY_OF_WEBHOOK

# operation -> its error, the code of a detail, and the prefix of field names
REJECTIONS: dict[str, tuple[InvalidRequest, str, str]] = {
    "update_repository": (INVALID_REPOSITORY, "InvalidValue", ""),
    "create_repository_resource": (INVALID_REPOSITORY, "InvalidValue", ""),
    "create_scene": (INVALID_SCENE, "InvalidRequestBody", ""),
    "create_detector": (INVALID_DETECTOR, "InvalidValue", "detector."),
    "update_webhook": (INVALID_WEBHOOK, "InvalidRequestBody", ""),
}
FIELDS: dict[str, tuple[str, ...]] = {
    "update_repository": ("displayName", "uri", "authentication", "options"),
    "create_repository_resource": ("id", "type", "displayName"),
    "create_scene": tuple(SCENE_RULES),
    "create_detector": ("name", "displayName", "description", "type", "documentationUrl"),
    "update_webhook": ("secret", "active", "callbackUrl", "eventTypes"),
}
READ_ONLY_FIELDS: dict[str, tuple[str, ...]] = {
    "update_repository": READ_ONLY_OF_REPOSITORY,
    "create_repository_resource": ("class", "subClass", "capabilities"),
    "create_scene": ("iTwinId", "createdById", "creationTime", "lastModified"),
    "create_detector": ("versions",),
    "update_webhook": READ_ONLY_OF_WEBHOOK,
}
READ_ONLY_OF_OBJECTS = ("sceneId", "createdById", "creationTime", "lastModified")
WEB_ADDRESSES = ("uri", "documentationUrl", "callbackUrl", "authorizationEndpoint", "tokenEndpoint")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")

Found = Iterator[tuple[str, str]]


def odd_fields(operation: str, request: APIRequest) -> list[Detail]:
    """Return a detail for each odd field of the body; none for a body that is not a JSON object."""
    if operation not in REJECTIONS:
        return []
    try:
        body = request.body.json()
    except NotJSONError:
        return []
    _, code, prefix = REJECTIONS[operation]
    found = _in_body(operation, body) if isinstance(body, dict) else iter(())
    return [Detail(code, f"{prefix}{target}", message) for target, message in found]


def reject_odd_fields(operation: str, details: list[Detail]) -> None:
    """Reject the request with the error of the operation if there are odd fields."""
    if details:
        REJECTIONS[operation][0].reject(*details)


def _in_body(operation: str, body: JSONObject) -> Found:
    yield from _unexpected("", body, FIELDS[operation], READ_ONLY_FIELDS[operation])
    yield from _odd_strings("", body)
    for name, check in _NESTED.get(operation, {}).items():
        value = body.get(name)
        if isinstance(value, dict):
            yield from check(value)
    event_types = body.get("eventTypes")
    if isinstance(event_types, list) and len(set(map(str, event_types))) < max(1, len(event_types)):
        yield "eventTypes", "The list is empty or names an event type twice."


def _unexpected(prefix: str, value: JSONObject, known: tuple[str, ...], read_only: tuple[str, ...] = ()) -> Found:
    for name in value:
        if name in read_only:
            yield f"{prefix}{name}", "The field is read-only."
        elif name not in known:
            yield f"{prefix}{name[:100]}", "The specification does not have this field."


def _odd_strings(prefix: str, value: Mapping[str, JSON]) -> Found:
    for name, text in value.items():
        if not isinstance(text, str):
            continue
        if not text.strip():
            yield f"{prefix}{name}", "The value is empty."
        elif _CONTROL_CHARACTERS.search(text):
            yield f"{prefix}{name}", "The value has control characters."
        elif name in WEB_ADDRESSES and not _is_web_address(text):
            yield f"{prefix}{name}", "The value is not an absolute http or https address."


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in text


def _in_authentication(value: JSONObject) -> Found:
    kind = value.get("type")
    names = AUTHENTICATION_PROPERTIES.get(kind, ()) if isinstance(kind, str) else ()
    if names:
        yield from _unexpected("authentication.", value, ("type", *names))
        yield from _odd_strings("authentication.", value)


def _in_options(value: JSONObject) -> Found:
    yield from _unexpected("options.", value, ("queryParameters", *LEVELS))
    lowest, highest = (value.get(name) for name in LEVELS)
    if isinstance(lowest, int) and isinstance(highest, int) and lowest > highest:
        yield "options.minimumLevel", "The minimum level is above the maximum level."


def _in_scene_data(value: JSONObject) -> Found:
    yield from _unexpected("sceneData.", value, ("objects",))
    objects = value.get("objects")
    for index, item in enumerate(objects if isinstance(objects, list) else []):
        if isinstance(item, dict):
            yield from _in_scene_object(f"sceneData.objects[{index}].", item)


def _in_scene_object(prefix: str, item: JSONObject) -> Found:
    yield from _unexpected(prefix, item, tuple(OBJECT_RULES), READ_ONLY_OF_OBJECTS)
    yield from _odd_strings(prefix, item)
    kind, data = item.get("kind"), item.get("data")
    if isinstance(kind, str) and kind in DATA_RULES and isinstance(data, dict):
        yield from _unexpected(f"{prefix}data.", data, tuple(DATA_RULES[kind]))
        yield from _odd_strings(f"{prefix}data.", data)
        if kind == "View3d":
            yield from _in_view(f"{prefix}data.", data)


def _in_view(prefix: str, view: JSONObject) -> Found:
    for name in ("direction", "up"):
        vector = view.get(name)
        if isinstance(vector, dict) and vector and not any(vector.values()):
            yield f"{prefix}{name}", "The vector has no length."
    for name in ("aspectRatio", "near", "far", "width"):
        number = view.get(name)
        if isinstance(number, int | float) and number <= 0:
            yield f"{prefix}{name}", "The value is not positive."
    near, far, fov = view.get("near"), view.get("far"), view.get("fov")
    if isinstance(near, int | float) and isinstance(far, int | float) and near >= far:
        yield f"{prefix}near", "The near plane is not before the far plane."
    if isinstance(fov, int | float) and not 0 < fov < math.pi:
        yield f"{prefix}fov", "A field of view lies between 0 and pi radians."


_NESTED: dict[str, dict[str, Callable[[JSONObject], Found]]] = {
    "update_repository": {"authentication": _in_authentication, "options": _in_options},
    "create_scene": {"sceneData": _in_scene_data},
}
