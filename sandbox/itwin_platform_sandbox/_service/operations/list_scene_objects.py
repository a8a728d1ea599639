"""List scene objects. Source: section 4.6."""

import copy
from collections.abc import Callable

from ..errors import Detail, ErrorResponse
from ..json_values import JSON, JSONObject
from ..messages import OperationRequest, ServiceResponse
from ..paging import paging_links
from ..queries.itwin_query import parse_integer
from ..state import Platform, StoredScene
from .create_scene import may_see

LARGEST_PAGE = 100
# The specification names `kind` and mentions others; the service was observed to support these two.
ORDERS: dict[str, Callable[[JSONObject], object]] = {
    "kind": lambda item: str(item["kind"]),
    "displayName": lambda item: str(item.get("displayName", "")).casefold(),
    "order": lambda item: item.get("order", 0),
}


def list_scene_objects(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return one page of the objects that the caller may see. Source: section 4.6."""
    order, skip, top = _read_query(request)
    scene = _scene(platform, request)
    visible = [item for item in scene.objects if may_see(request, item)]
    visible.sort(key=ORDERS[order])  # type: ignore[arg-type] # each order has keys of one type
    page: list[JSON] = [*copy.deepcopy(visible[skip : skip + top])]
    query = {"orderBy": "kind", **request.query}
    body: JSON = {
        "objects": page,
        "sceneContext": {
            "displayName": scene.content["displayName"],
            "lastModified": scene.content["lastModified"],
            "isPartial": len(visible) < len(scene.objects),
        },
        "_links": paging_links(request.url, query, skip=skip, top=top, total=len(visible)),
    }
    return ServiceResponse(200, body)


def _scene(platform: Platform, request: OperationRequest) -> StoredScene:
    itwin_id = request.query["iTwinId"].lower()
    scene = platform.scenes.get(request.path_parameters["sceneId"].lower())
    if scene is None or scene.content["iTwinId"] != itwin_id or not request.caller.has_access_to(itwin_id):
        raise _not_found()
    return scene


def _read_query(request: OperationRequest) -> tuple[str, int, int]:
    query = request.query
    order = query.get("orderBy", "kind")
    skip = parse_integer(query.get("$skip", "0"))
    top = parse_integer(query.get("$top", str(LARGEST_PAGE)))
    problems = []
    if "iTwinId" not in query:
        problems.append(Detail("InvalidParameter", "iTwinId", "The query parameter iTwinId is required."))
    if order not in ORDERS:
        problems.append(Detail("InvalidValue", "orderBy", f"orderBy must be one of {', '.join(ORDERS)}."))
    if skip is None or skip < 0:
        problems.append(Detail("InvalidValue", "$skip", "$skip must be a non-negative integer."))
    if top is None or not 1 <= top <= LARGEST_PAGE:
        problems.append(Detail("InvalidValue", "$top", f"$top must be a positive integer up to {LARGEST_PAGE}."))
    if problems or skip is None or top is None:
        # The specification has no other error for a wrong request of this operation.
        raise _not_found(problems)
    return order, skip, top


def _not_found(details: list[Detail] | None = None) -> ErrorResponse:
    return ErrorResponse(404, "SceneObjectNotFound", "Requested scene objects are not available.", details or [])
