"""The input of a change of a response."""

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

    `number` is the number of the request, so that variants alternate. `run_again` runs a listing with another query
    and does not count against the rate limit.
    """

    request: APIRequest
    operation: Operation | None
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
