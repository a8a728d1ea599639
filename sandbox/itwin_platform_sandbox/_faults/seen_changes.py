"""Observed values, times, shapes, errors and headers that the specification does not have.

`seen.json` has the edits of a response by the name of its list or object. An edit sets, copies, removes or extends
fields; the `variants` of an edit alternate.
"""

import json
import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from .._service.data_files import data_file
from .._service.document import DocumentedOperation
from .._service.json_values import JSON, JSONObject
from .._service.messages import APIRequest, ServiceResponse
from .changes import ChangeContext, copy_of, items_named, items_of, object_at, objects_in

_SEEN: Any = json.loads(data_file("_faults/seen.json"))
QUERY_SCOPE = "X-iTwin-Query-Scope"


def names_any_query_scope(operation: DocumentedOperation, request: APIRequest) -> bool:
    """Return whether the request has the query scope `all`, which the specification does not have."""
    return QUERY_SCOPE in operation.parameters and request.headers.get(QUERY_SCOPE.lower()) == "all"


def accept_any_query_scope(request: APIRequest) -> APIRequest:
    """Return the request with the documented scope that is closest to `all`."""
    return replace(request, headers={**request.headers, QUERY_SCOPE.lower(): "OrganizationAdmin"})


def enum_values(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Use classes, subclasses, kinds and event types that the specification does not have."""
    changed, body = copy_of(response)
    _edit(body, _SEEN["enum_values"], context.number)
    return changed


def shapes(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Give objects their observed shapes; a webhook comes bare and wrapped in turn."""
    changed, body = copy_of(response)
    _edit(body, _SEEN["shapes"], context.number)
    if "callbackUrl" in body and context.number % 2 == 0:
        kept = {name: value for name, value in body.items() if name not in ("created", "modified")}
        return replace(changed, body={"webhook": kept})
    return changed


def _edit(body: JSONObject, edits: Any, number: int) -> None:
    for name, steps in edits.items():
        values = body.get(name)
        for step in steps if name in body else ():
            if "extend" in step and isinstance(values, list):
                values.extend(step["extend"])
            else:
                for index, item in enumerate(items_named(body, name)):
                    _edit_item(item, step, number + index)


def _edit_item(item: JSONObject, step: Any, number: int) -> None:
    if any(item.get(name) not in values for name, values in step.get("if", {}).items()):
        return
    if any(item.get(name) in values for name, values in step.get("unless", {}).items()):
        return
    item = object_at(item, step["in"]) if "in" in step else item
    item.update(json.loads(json.dumps(step.get("set", {}))))
    item.update({name: item[source] for name, source in step.get("copy", {}).items() if source in item})
    item.update({name: value for name, value in step.get("unset", {}).items() if item.get(name) is None})
    for name in step.get("remove", ()):
        item.pop(name, None)
    if "integers" in step:
        item.update({name: _as_integers(value) for name, value in item.items()})
    if "variants" in step:
        _edit_item(item, step["variants"][number % len(step["variants"])], number)


def _as_integers(value: JSON) -> JSON:
    """Return a value with each number that has no fraction as an integer."""
    if isinstance(value, dict):
        return {name: _as_integers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_integers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def times(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Write times of iTwins without zone and with 2 to 7 digits, of scenes with none or three, others with seven."""
    changed, body = copy_of(response)
    for index, (name, item) in enumerate(items_of(body)):
        for field in _SEEN["time_fields"]:
            if isinstance(item.get(field), str):
                item[field] = _time(_SEEN["times"].get(name), str(item[field]), context.number + index)
    return changed


def _time(form: str | None, text: str, number: int) -> str:
    digits = f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M:%S.%f}6"  # to ten millionths of a second
    if form == "without a zone":
        return digits[: len(digits) - 5 + number % 6]
    if form == "seconds":
        return text if number % 2 else digits.partition(".")[0] + "Z"
    return digits + "Z"


def errors(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Change codes and omit targets; every second 401 has the body of the gateway."""
    if response.status == 401 and context.number % 2:
        return replace(response, body=_SEEN["gateway"])
    changed, body = copy_of(response)
    error = object_at(body, "error")
    error["code"] = _SEEN["codes"].get(error.get("code"), error.get("code"))
    for detail in objects_in(error.get("details")):
        detail.pop("target", None)
    return changed


def headers(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Add correlation id, media type, region, tier and, with 429, the limited scope; compress if gzip is accepted."""
    request, operation = context.request, context.operation
    named = [name for name, _ in response.headers]
    added = [("X-ITwinPlatform-Region", "East US"), ("Tier", "Trial")]
    if "x-correlation-id" not in named:
        added.append(("x-correlation-id", request.headers.get("x-correlation-id") or context.platform.new_id()))
    vendor = re.search(r"vnd\.([a-z0-9_.-]+)\.itwin-platform", request.headers.get("accept", ""), re.IGNORECASE)
    if operation is not None and vendor is not None:
        media_type = f"application/vnd.{vendor[1]}.itwin-platform.v{operation.version}+json"
        added.append(("X-ITwinPlatform-Media-Type", media_type))
    if response.status == 429:
        limited = operation.name if operation else ""
        values = {"Tier": "Trial", "API": "itwins", "Operation": limited, "Application": "sandbox"}
        added += [(f"ITwinPlatform-RateLimited-{name}", value) for name, value in values.items()]
    if "gzip" in request.headers.get("accept-encoding", ""):
        added.append(("content-encoding", "gzip"))
    return replace(response, headers=(*response.headers, *added))
