"""What a change of a response may look at."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..._service.json_values import JSON, JSONObject
from ..._service.messages import APIRequest, ServiceResponse
from ..._service.operation_table import Operation
from ..._service.state import Platform
from ..plan import Fault

# Where a response holds what it is about: in a list of this name, or in an object of this name.
LISTS = ("iTwins", "objects")
WRAPPERS = ("iTwin", "repository", "resource", "scene", "detector")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeContext:
    """The request, its operation and the fault; `turn` counts the requests, so that variants take turns."""

    request: APIRequest
    operation: Operation | None
    fault: Fault
    platform: Platform
    turn: int

    @property
    def operation_name(self) -> str:
        """The name of the operation, empty when there is none."""
        return self.operation.name if self.operation else ""


def copy_of(response: ServiceResponse) -> tuple[ServiceResponse, JSONObject]:
    """The response with a body of its own, which may be changed; an empty object where there is no object."""
    body = copy.deepcopy(response.body)
    return replace(response, body=body), body if isinstance(body, dict) else {}


def items_of(body: JSONObject) -> Iterator[JSONObject]:
    """The iTwins, objects, or the one thing that a response is about."""
    for name in LISTS:
        yield from objects_in(body.get(name))
    for name in WRAPPERS:
        wrapped = body.get(name)
        if isinstance(wrapped, dict):
            yield wrapped
    if "callbackUrl" in body:
        yield body


def objects_in(value: JSON) -> Iterator[JSONObject]:
    """The objects in a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def object_at(value: JSONObject, name: str) -> JSONObject:
    """The object of that name, an empty one that belongs to nothing when there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}
