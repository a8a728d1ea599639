"""The eight operations of section 4 as a table, and the route of a request.

Paths are matched percent-encoded and then decoded: an id may contain an encoded slash.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from .errors import operation_not_found
from .messages import OperationRequest, ServiceResponse
from .operations.create_detector import create_detector
from .operations.create_repository_resource import create_repository_resource
from .operations.create_scene import create_scene
from .operations.get_primary_account import get_primary_account
from .operations.list_itwins import list_itwins
from .operations.list_scene_objects import list_scene_objects
from .operations.update_repository import update_repository
from .operations.update_webhook import update_webhook
from .state import Platform


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: `version` is the one in the vendor media type of Accept (section 9)."""

    name: str
    method: str
    route: str
    version: int
    decide: Callable[[Platform, OperationRequest], ServiceResponse]
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Other clients of the platform omit the slash at the end of a collection.
        path = f"{self.route}?" if self.route.endswith("/") else self.route
        pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))
        object.__setattr__(self, "pattern", pattern)  # a frozen value computes a field


OPERATIONS = (
    Operation("list_itwins", "GET", "/itwins/", 1, list_itwins),
    Operation("get_primary_account", "GET", "/itwins/myprimaryaccount", 1, get_primary_account),
    Operation("update_repository", "PATCH", "/itwins/{iTwinId}/repositories/{repositoryId}", 1, update_repository),
    Operation(
        "create_repository_resource",
        "POST",
        "/itwins/{iTwinId}/repositories/{repositoryId}/resources",
        1,
        create_repository_resource,
    ),
    Operation("create_scene", "POST", "/scenes/", 1, create_scene),
    Operation("list_scene_objects", "GET", "/scenes/{sceneId}/objects", 1, list_scene_objects),
    Operation("create_detector", "POST", "/reality-analysis/detectors", 2, create_detector),
    Operation("update_webhook", "PATCH", "/webhooks/{webhookId}", 2, update_webhook),
)


@dataclass(frozen=True, slots=True)
class Route:
    """The operation of a request, with its decoded path parameters."""

    operation: Operation
    path_parameters: dict[str, str]


def find_route(method: str, path: str) -> Route:
    """Return the route of a raw path below the base address, or raise 404. Source: section 7, `OperationNotFound`."""
    allowed = []
    for operation in OPERATIONS:
        match = operation.pattern.fullmatch(path)
        if match is not None and operation.method == method:
            return Route(operation, {name: unquote(value) for name, value in match.groupdict().items()})
        if match is not None:
            allowed.append(operation.method)
    if allowed:
        raise operation_not_found(f"{method} is not supported here; supported: {', '.join(allowed)}.")
    raise operation_not_found(f"There is no operation {method} {path[:200]}.{_suggestion(path)}")


def _suggestion(path: str) -> str:
    other = path.removesuffix("/")
    return f" Did you mean {other[:200]}?" if any(row.pattern.fullmatch(other) for row in OPERATIONS) else ""
