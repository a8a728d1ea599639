"""What a change of an answer may look at."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from itwin_platform_sandbox._exchange import Answer, APIRequest
from itwin_platform_sandbox._faults import Fault
from itwin_platform_sandbox._json import JSON, JSONObject
from itwin_platform_sandbox._operation_table import Operation
from itwin_platform_sandbox._state import Platform

# Where an answer holds what it is about: in a list of this name, or in an object of this name.
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


def copy_of(answer: Answer) -> tuple[Answer, JSONObject]:
    """The answer with a body of its own, which may be changed; an empty object where there is no object."""
    body = copy.deepcopy(answer.body)
    return replace(answer, body=body), body if isinstance(body, dict) else {}


def items_of(body: JSONObject) -> Iterator[JSONObject]:
    """The iTwins, objects, or the one thing that an answer is about."""
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
