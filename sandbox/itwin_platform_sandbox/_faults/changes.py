"""Changes of responses: wrong links, a scene that changes, unknown values and fields, nulls and omitted fields."""

import base64
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from .._service.document import DocumentedOperation
from .._service.json_values import JSON, JSONObject
from .._service.messages import APIRequest, ServiceResponse
from .._service.state import Platform, StoredScene, time_text
from .plan import Fault

# A response holds its subject in a list of this name, or in an object of this name.
LISTS = ("iTwins", "objects")
WRAPPERS = ("iTwin", "repository", "resource", "scene", "detector")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeContext:
    """The request, its operation and the fault.

    `number` is the number of the request, so that variants alternate. `run_again` runs a listing with another query
    and does not count against the rate limit.
    """

    request: APIRequest
    operation: DocumentedOperation | None
    fault: Fault
    platform: Platform
    number: int
    run_again: Callable[[APIRequest], ServiceResponse]

    @property
    def operation_name(self) -> str:
        """The name of the operation, empty when there is none."""
        return self.operation.name if self.operation else ""


@dataclass(frozen=True, slots=True)
class Change:
    """How a fault changes a response.

    Without `applies` the fault applies if the changed response differs. A change with a side effect needs `applies`,
    which decides before the change. A change that runs the listing again comes before all others.
    """

    make: Callable[[ChangeContext, ServiceResponse], ServiceResponse]
    applies: Callable[[ChangeContext, ServiceResponse], bool] | None = None
    runs_again: bool = False


def copy_of(response: ServiceResponse) -> tuple[ServiceResponse, JSONObject]:
    """Return a copy of the response, and its body to change; an empty object if the body is no object."""
    body = copy.deepcopy(response.body)
    return replace(response, body=body), body if isinstance(body, dict) else {}


def items_of(body: JSONObject) -> Iterator[JSONObject]:
    """Yield the iTwins, the objects, or the one subject of a response."""
    for name in LISTS:
        yield from objects_in(body.get(name))
    for name in WRAPPERS:
        wrapped = body.get(name)
        if isinstance(wrapped, dict):
            yield wrapped
    if "callbackUrl" in body:
        yield body


def objects_in(value: JSON) -> Iterator[JSONObject]:
    """Yield the objects in a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def object_at(value: JSONObject, name: str) -> JSONObject:
    """Return the object of that name, or an empty one that is not in `value`."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


CONTINUATION_TOKEN = "$continuationToken"  # noqa: S105 - the name of a query parameter


def foreign(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Let the next link name another origin."""
    return _with_next(response, lambda href: context.fault.origin + _path_and_query(href))


def looping(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Let the next link name this page."""
    changed, body = copy_of(response)
    links = object_at(body, "_links")
    if "next" in links:
        links["next"] = links["self"]
    return changed


def relative(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Omit scheme and host from the next link."""
    return _with_next(response, _path_and_query)


def blank_led(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Put a blank before the address."""
    return _with_next(response, lambda href: f" {href}")


def null(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Set the next link of the last page to null."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", None)
    return changed


def empty(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Give the next link of the last page an empty address."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", {"href": ""})
    return changed


def continuation_token(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Replace $skip in the next link by an opaque token."""
    return _with_next(response, lambda href: "&".join(map(_hide_skip, href.split("&"))))


def read_continuation_token(request: APIRequest) -> APIRequest:
    """Return the request with the $skip that its continuation token encodes."""
    if CONTINUATION_TOKEN not in request.query:
        return request
    query = {name: value for name, value in request.query.items() if name != CONTINUATION_TOKEN}
    try:
        skip = base64.urlsafe_b64decode(request.query[CONTINUATION_TOKEN]).decode("ascii")
    except ValueError:
        skip = "not a token of this sandbox"
    return replace(request, query={**query, "$skip": skip})


def can_be_smaller(context: ChangeContext, response: ServiceResponse) -> bool:
    """Return whether a page a third smaller would have fewer items."""
    body = response.body if isinstance(response.body, dict) else {}
    return "_links" in body and len(list(items_of(body))) > _smaller_size(context.request)


def other_page_size(context: ChangeContext, _: ServiceResponse) -> ServiceResponse:
    """Return a page a third smaller; its links keep the requested page size."""
    requested = context.request.query.get("$top", "100")
    used = str(_smaller_size(context.request))
    smaller = context.run_again(replace(context.request, query={**context.request.query, "$top": used}))
    return _with_next(smaller, lambda href: href.replace(f"$top={used}", f"$top={requested}"))


def _smaller_size(request: APIRequest) -> int:
    top = _integer(request.query.get("$top", "100"))
    return top - max(1, top // 3)


def _integer(text: str) -> int:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else 0


def _with_next(response: ServiceResponse, change: Callable[[str], str]) -> ServiceResponse:
    changed, body = copy_of(response)
    link = object_at(object_at(body, "_links"), "next")
    if "href" in link:
        link["href"] = change(str(link["href"]))
    return changed


def _path_and_query(href: str) -> str:
    parts = urlsplit(href)
    return f"{parts.path}?{parts.query}"


def _hide_skip(parameter: str) -> str:
    before, found, skip = parameter.partition("$skip=")
    if not found:
        return parameter
    return f"{before}{CONTINUATION_TOKEN}={base64.urlsafe_b64encode(skip.encode('ascii')).decode('ascii')}"


def has_objects(_: ChangeContext, response: ServiceResponse) -> bool:
    """Return whether the page has an object of a scene."""
    return isinstance(response.body, dict) and any(objects_in(response.body.get("objects")))


def scene_changes(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Remove the first object of the page from the scene, which moves all later objects up."""
    body = response.body if isinstance(response.body, dict) else {}
    for item in objects_in(body.get("objects")):
        for scene in list(context.platform.scenes.values()):
            _remove(context.platform, scene, str(item["id"]))
        break
    return response


def _remove(platform: Platform, scene: StoredScene, object_id: str) -> None:
    remaining = tuple(item for item in scene.objects if item["id"] != object_id)
    if len(remaining) < len(scene.objects):
        before = datetime.fromisoformat(str(scene.content["lastModified"]))
        # A reader compares the times, so they differ even where the clock stands still.
        time = time_text(max(platform.now(), before + timedelta(milliseconds=1)))
        platform.store_scene(StoredScene(content={**scene.content, "lastModified": time}, objects=remaining))


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
