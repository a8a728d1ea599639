"""What a change of a response may look at."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..._service.json_values import JSON, JSONObject
from ..._service.messages import APIRequest, ServiceResponse
from ..._service.operation_table import Operation
from ..._service.state import Platform
from ..plan import Fault

# A response holds its subject in a list of this name, or in an object of this name.
LISTS = ("iTwins", "objects")
WRAPPERS = ("iTwin", "repository", "resource", "scene", "detector")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeContext:
    """The request, its operation and the fault.

    `turn` counts the requests, so that variants take turns. `run_again` carries out a listing with another query; it
    uses up no rate limit.
    """

    request: APIRequest
    operation: Operation | None
    fault: Fault
    platform: Platform
    turn: int
    run_again: Callable[[APIRequest], ServiceResponse]

    @property
    def operation_name(self) -> str:
        """The name of the operation, empty when there is none."""
        return self.operation.name if self.operation else ""


@dataclass(frozen=True, slots=True)
class Change:
    """How a fault changes a response.

    Without `applies` the fault applies where the changed response differs. A change with a side effect has to say
    beforehand whether it applies. A change that runs the listing again comes before all others.
    """

    make: Callable[[ChangeContext, ServiceResponse], ServiceResponse]
    applies: Callable[[ChangeContext, ServiceResponse], bool] | None = None
    runs_again: bool = False


def copy_of(response: ServiceResponse) -> tuple[ServiceResponse, JSONObject]:
    """Return the response with a body of its own that may be changed; an empty object where there is no object."""
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
    """Return the object of that name, or an empty one that belongs to nothing."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}
