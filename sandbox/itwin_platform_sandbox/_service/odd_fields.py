"""Finds what the documented rules allow and hardly anybody means: unknown parameters, preferences and fields, read-only
fields, empty or implausible values.

With `strict` the sandbox rejects them with the error of the operation, otherwise the journal notes them.
"""

import math
import re
from collections.abc import Iterator
from difflib import get_close_matches
from urllib.parse import urlsplit

from .document import DocumentedOperation
from .json_values import JSONObject, NotJSONError
from .messages import APIRequest, Detail
from .scenes import objects_of

WEB_ADDRESSES = ("uri", "documentationUrl", "callbackUrl", "authorizationEndpoint", "tokenEndpoint")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")

Found = Iterator[tuple[str, str]]


def odd_fields(operation: DocumentedOperation, request: APIRequest) -> list[Detail]:
    """Return a detail for each odd parameter, and for each odd field of a body that is a JSON object."""
    odd_parameters = _odd_parameters(operation, request)
    found = [operation.detail(name, text, {"target": name}, inferred="strict") for name, text in odd_parameters]
    try:
        value = request.body.json() if operation.body_schema else None
    except NotJSONError:
        value = None
    if isinstance(value, dict):
        found += operation.odd_fields(value, _reason)
        found += [operation.detail(*odd, inferred="strict") for odd in _implausible(value)]
    return found


def _odd_parameters(operation: DocumentedOperation, request: APIRequest) -> Found:
    known = [parameter.name for parameter in operation.parameters.values() if parameter.place == "query"]
    for name in request.query:
        if name not in known:
            by_letters = {other.strip("$").casefold(): other for other in known}
            meant = get_close_matches(name.strip("$").casefold(), by_letters, n=1)
            hint = f" Did you mean {by_letters[meant[0]]}?" if meant else ""
            yield name[:100], f"The specification does not have this query parameter.{hint}"
    sent = request.headers.get("prefer")
    if sent is not None and "Prefer" in operation.parameters:
        preferences = [preference.strip() for preference in sent.split(",")]
        for preference in preferences:
            for problem in operation.parameters["Prefer"].read(preference)[1]:
                yield "Prefer", f"The preference {preference[:100]!r} is ignored: it {problem.message}."


def _reason(name: str, text: str) -> str | None:
    if not text.strip():
        return "The value is empty."
    if _CONTROL_CHARACTERS.search(text):
        return "The value has control characters."
    if name in WEB_ADDRESSES and not _is_web_address(text):
        return "The value is not an absolute http or https address."
    return None


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in text


def _implausible(body: JSONObject) -> Found:
    options = body.get("options")
    if isinstance(options, dict):
        lowest, highest = options.get("minimumLevel"), options.get("maximumLevel")
        if isinstance(lowest, int) and isinstance(highest, int) and lowest > highest:
            yield "options.minimumLevel", "The minimum level is above the maximum level."
    event_types = body.get("eventTypes")
    if isinstance(event_types, list) and len(set(map(str, event_types))) < max(1, len(event_types)):
        yield "eventTypes", "The list is empty or names an event type twice."
    for index, item in enumerate(objects_of(body)):
        data = item.get("data")
        if item.get("kind") == "View3d" and isinstance(data, dict):
            yield from _in_view(f"sceneData.objects[{index}].data.", data)


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
