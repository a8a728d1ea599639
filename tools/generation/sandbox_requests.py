"""Requests that a specification allows, put to the sandbox's rules in this process, and the places to vary in them."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from itwin_platform_sandbox._service.credentials import Tokens
from itwin_platform_sandbox._service.json_values import read_json, write_json
from itwin_platform_sandbox._service.messages import APIRequest, ServiceResponse
from itwin_platform_sandbox._service.seeding import seeded_platform
from itwin_platform_sandbox._service.service import Service

from tools.spec.specification import Field, Operation, Specification

#: More than one page of each listing.
ITWINS, OBJECTS = 120, 101
#: One of so many iTwins is inactive, so that the first page shows whether they are listed.
INACTIVE = 10
#: The repository that has every option.
SUB_CLASS = "UrlTemplate"
#: The time of the stored data.
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ABSENT: Any = object()
#: Tried in this order where a pattern is demanded.
TEXTS = ("A", "6a2d2381-6c57-4332-b87a-5b7c00000000", "1.0.0", "2026-01-01T12:00:00.000Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A parameter or a property that requests of an operation have: `put` puts a value there into a request."""

    operation: Operation
    part: str
    name: str
    field: Field
    put: Callable[[Any], APIRequest]

    @property
    def what(self) -> str:
        """The place as people read it."""
        return f"{self.part} of {self.operation.name}"

    @property
    def in_body(self) -> bool:
        """Whether it is a property and not a parameter."""
        return not self.part.startswith(("query ", "header "))


class SandboxRules:
    """Decides requests as the sandbox does, each on the same stored data."""

    def __init__(self) -> None:
        self._seeded = seeded_platform(itwins=ITWINS, objects=OBJECTS, seed=1, as_seen=False, now=lambda: NOW)
        for itwin in list(self._seeded.platform.itwins.values())[1::INACTIVE]:
            itwin["status"] = "Inactive"
        self._snapshot = self._seeded.platform.snapshot()
        tokens = Tokens(any_token=True, clock=lambda: 0.0)
        self._service = Service(platform=self._seeded.platform, tokens=tokens, now=lambda: NOW)

    @property
    def ids(self) -> Mapping[str, str]:
        """The ids of stored data, by the name of the parameter."""
        seeded = self._seeded
        own = {"iTwinId": seeded.itwin_id, "repositoryId": seeded.repository_ids[SUB_CLASS]}
        return own | {"sceneId": str(seeded.scene_id), "webhookId": str(seeded.webhook_id)}

    def response(self, request: APIRequest) -> ServiceResponse:
        """Return what the sandbox responds to a request."""
        response = self._service.handle(request)
        if request.method != "GET" and response.status < 300:
            self._seeded.platform.restore(self._snapshot)
        return response

    def accepts(self, request: APIRequest) -> bool:
        """Return whether the sandbox does what a request asks for."""
        return self.response(request).status < 300


class Requests:
    """Makes the shortest request of each operation, and longer ones."""

    def __init__(self, specification: Specification, ids: Mapping[str, str]) -> None:
        self._models = specification.models
        self._ids = ids

    def shortest(self, operation: Operation) -> APIRequest:
        """Return the request that has only what is required."""
        path, query, headers = operation.path, dict[str, str](), {"authorization": "Bearer a"}
        for part, field in operation.parameters.items():
            kind, _, name = part.partition(" ")
            value = self._ids.get(name) or str(self.value(field))
            if name == "Accept":
                headers["accept"] = str(field.default).replace("{vendor}", "vendor")
            elif kind == "path":
                path = path.replace(f"{{{name}}}", quote(value, safe=""))
            elif field.required:
                (headers if kind == "header" else query)[name.lower() if kind == "header" else name] = value
        body = b"" if operation.body is None else write_json(self.value(operation.body))
        headers |= {"content-type": "application/json"} if body else {}
        return APIRequest(method=operation.method, path=path, query=query, headers=headers, body=body)

    def places(self, operation: Operation) -> Iterator[Place]:
        """Return the parameters, and the properties of the body however deep."""
        shortest = self.shortest(operation)
        for part, field in operation.parameters.items():
            kind, _, name = part.partition(" ")
            if kind in ("query", "header") and name != "Accept":
                put = _parameter(shortest, kind, name)
                yield Place(operation=operation, part=part, name=name, field=field, put=put)
        if operation.body is not None:
            yield from self._inside(operation, operation.body, "", lambda value: _with_body(shortest, value))

    def value(self, field: Field) -> Any:
        """Return the shortest value that a field allows."""
        if "const" in field.limits or field.values:
            return field.limits.get("const", next(iter(field.values), None))
        return self.of_kind(min(field.kinds, default="anything"), field)

    def of_kind(self, kind: str, field: Field) -> Any:
        """Return the shortest value of one of the kinds of a field."""
        if kind.startswith("list of "):
            item = self.of_kind(kind.removeprefix("list of "), field)
            return [item] * int(str(field.limits.get("minItems", 0)))
        if kind in self._models:
            return self._model(kind)
        least = int(str(field.limits.get("minimum", 1)))
        plain = {"integer": least, "number": least, "boolean": True, "array": [], "string": _text(field)}
        return plain.get(kind, {})

    def _model(self, name: str, *, without: str = "") -> Any:
        model = self._models[name]
        if model.values:
            return model.values[0]
        return {wire: self.value(field) for wire, field in model.fields.items() if field.required and wire != without}

    def _inside(
        self, operation: Operation, field: Field, prefix: str, put: Callable[[Any], APIRequest]
    ) -> Iterator[Place]:
        for kind in sorted(field.kinds):
            name = kind.removeprefix("list of ")
            whole = _listed(put) if kind != name else put
            fields = self._models[name].fields if name in self._models else {}
            for wire, inner in fields.items():
                own = _property(whole, self._model(name, without=wire), wire)
                part = f"{prefix}{name}.{wire}"
                yield Place(operation=operation, part=part, name=wire, field=inner, put=own)
                yield from self._inside(operation, inner, f"{part}, ", own)


def _text(field: Field) -> str:
    pattern = str(field.limits.get("pattern", ""))
    fitting = [text for text in TEXTS if re.search(pattern, text)]
    return fitting[0] if fitting else TEXTS[0]


def _parameter(shortest: APIRequest, kind: str, name: str) -> Callable[[Any], APIRequest]:
    def put(value: Any) -> APIRequest:
        query, headers = dict(shortest.query), dict(shortest.headers)
        holder, key = (headers, name.lower()) if kind == "header" else (query, name)
        holder.pop(key, None)
        if value is not ABSENT:
            holder[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return APIRequest(method=shortest.method, path=shortest.path, query=query, headers=headers, body=shortest.body)

    return put


def _property(whole: Callable[[Any], APIRequest], others: Any, name: str) -> Callable[[Any], APIRequest]:
    return lambda value: whole({**others} if value is ABSENT else {**others, name: value})


def _listed(whole: Callable[[Any], APIRequest]) -> Callable[[Any], APIRequest]:
    return lambda value: whole([value])


def _with_body(shortest: APIRequest, value: Any) -> APIRequest:
    headers = {**shortest.headers, "content-type": "application/json"}
    body = write_json(copy.deepcopy(value))
    return APIRequest(method=shortest.method, path=shortest.path, query=shortest.query, headers=headers, body=body)


def body_of_size(request: APIRequest, size: int) -> APIRequest:
    """Return the request with a body of so many bytes, whose first string is longer."""
    body: Any = read_json(request.body)
    name = next(name for name, value in body.items() if isinstance(value, str))
    missing = size - len(request.body)
    return _with_body(request, {**body, name: body[name] + "A" * missing})
