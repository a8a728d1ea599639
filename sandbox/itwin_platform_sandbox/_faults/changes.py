"""Changes of responses: wrong links, a scene that changes, unknown values and fields, nulls and omitted fields."""

import base64
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias
from urllib.parse import urlsplit

from .._service.document import CHECKS, DocumentedOperation
from .._service.json_values import JSON, JSONObject
from .._service.messages import APIRequest, ServiceResponse
from .._service.schema_checks import Schema
from .._service.state import Platform, StoredScene, time_text
from .plan import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeContext:
    """The request, its operation and the fault.

    `run_again` runs a listing with another query and does not count against the rate limit.
    """

    request: APIRequest
    operation: DocumentedOperation | None
    fault: Fault
    platform: Platform
    run_again: Callable[[APIRequest], ServiceResponse]


Maker: TypeAlias = Callable[[ChangeContext, ServiceResponse], ServiceResponse]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a response by a fault.

    Without `applies`, the fault has an effect if the changed response differs. A change with a side effect needs
    `applies`, which decides before the change. A change that runs the listing again is made before all others.
    """

    make: Maker
    applies: Callable[[ChangeContext, ServiceResponse], bool] | None = None
    runs_again: bool = False


LINKS = "_links"


def copy_of(response: ServiceResponse) -> tuple[ServiceResponse, JSONObject]:
    """Return a copy of the response, and its body to change; an empty object if the body is no object."""
    body = copy.deepcopy(response.body)
    return replace(response, body=body), body if isinstance(body, dict) else {}


def items_of(body: JSONObject) -> Iterator[JSONObject]:
    """Yield the body of a response if it is an object with an id; otherwise the objects in it and in its lists."""
    if "id" in body:
        yield body
    else:
        for value in (value for name, value in body.items() if name != LINKS):
            yield from objects_in(value if isinstance(value, list) else [value])


def objects_in(value: JSON) -> Iterator[JSONObject]:
    """Yield the objects in a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def object_at(value: JSONObject, name: str) -> JSONObject:
    """Return the object of that name; if there is none, an empty object that is not part of `value`."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


CONTINUATION_TOKEN = "$continuationToken"  # noqa: S105 - the name of a query parameter


def with_next(rename: Callable[[ChangeContext, str], str]) -> Maker:
    """Return a change of the address in the next link."""
    return lambda context, response: _with_next(response, lambda href: rename(context, href))


def with_last(value: JSON) -> Maker:
    """Return a change that adds a next link with this value to the last page."""

    def change(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
        changed, body = copy_of(response)
        object_at(body, LINKS).setdefault("next", value)
        return changed

    return change


def looping(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Point the next link to the page itself."""
    changed, body = copy_of(response)
    links = object_at(body, LINKS)
    if "next" in links:
        links["next"] = links["self"]
    return changed


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
    lists = [value for value in body.values() if isinstance(value, list)]
    return LINKS in body and sum(map(len, lists)) > _smaller_size(context.request)


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
    link = object_at(object_at(body, LINKS), "next")
    if "href" in link:
        link["href"] = change(str(link["href"]))
    return changed


def path_and_query(href: str) -> str:
    """Return an address without scheme and host."""
    parts = urlsplit(href)
    return f"{parts.path}?{parts.query}"


def hide_skip(href: str) -> str:
    """Return an address with an opaque token in place of $skip."""
    encoded = re.compile(r"\$skip=([0-9]+)")
    return encoded.sub(lambda skip: f"{CONTINUATION_TOKEN}={base64.urlsafe_b64encode(skip[1].encode()).decode()}", href)


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


def unknown_enum_values(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Set every enum of the document to an unknown value; in a list, only in every second item."""
    changed, body = copy_of(response)
    found = CHECKS.objects(context.operation.response, body) if context.operation else ()
    for path, schema, item in list(found):
        if all(step % 2 == 0 for step in path if isinstance(step, int)):
            for name, inner in schema["properties"].items():
                _make_unknown(item, name, CHECKS.resolved(inner))
    return changed


def _make_unknown(item: JSONObject, name: str, schema: Schema) -> None:
    value = item.get(name)
    if "x-kinds" in schema:
        item["kind"] = UNKNOWN_VALUE  # names the schema of this property
    elif isinstance(value, list) and "enum" in CHECKS.resolved(schema.get("items", {})):
        value.append(UNKNOWN_VALUE)
    elif name in item and {"enum", "const", "x-values"} & schema.keys():
        item[name] = UNKNOWN_VALUE


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
    return changed
