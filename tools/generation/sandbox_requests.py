"""Requests that a specification allows, values to vary in them, and the responses of the sandbox in this process."""

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
#: One of this many iTwins is inactive, so that the first page shows whether they are listed.
INACTIVE_EVERY = 10
#: The subclass of the repository that has every option.
SUB_CLASS = "UrlTemplate"
#: The time of the stored data.
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ABSENT: Any = object()
#: Candidates for a string with a pattern, in this order.
TEXTS = ("A", "6a2d2381-6c57-4332-b87a-5b7c00000000", "1.0.0", "2026-01-01T12:00:00.000Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A parameter or a property in the requests of an operation; `fill` returns a request with a value there."""

    operation: Operation
    part: str
    name: str
    field: Field
    fill: Callable[[Any], APIRequest]

    @property
    def description(self) -> str:
        """The slot as people read it."""
        return f"{self.part} of {self.operation.name}"

    @property
    def in_body(self) -> bool:
        """Whether it is a property and not a parameter."""
        return not self.part.startswith(("query ", "header "))


class SandboxRules:
    """The rules of the sandbox, applied to each request with the same stored data."""

    def __init__(self) -> None:
        self._seeded = seeded_platform(itwins=ITWINS, objects=OBJECTS, seed=1, as_seen=False, now=lambda: NOW)
        for itwin in list(self._seeded.platform.itwins.values())[1::INACTIVE_EVERY]:
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
        """Return the response of the sandbox to a request."""
        response = self._service.handle(request)
        if request.method != "GET" and response.status < 300:
            self._seeded.platform.restore(self._snapshot)
        return response

    def accepts(self, request: APIRequest) -> bool:
        """Return whether the sandbox accepts a request."""
        return self.response(request).status < 300


class Requests:
    """The requests of each operation: the shortest one, and others with one more value."""

    def __init__(self, specification: Specification, ids: Mapping[str, str]) -> None:
        self._models = specification.models
        self._ids = ids

    def shortest(self, operation: Operation) -> APIRequest:
        """Return the request with only what is required."""
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

    def slots(self, operation: Operation) -> Iterator[Slot]:
        """Yield the parameters, and the properties of the body at any depth."""
        shortest = self.shortest(operation)
        for part, field in operation.parameters.items():
            kind, _, name = part.partition(" ")
            if kind in ("query", "header") and name != "Accept":
                fill = _parameter(shortest, kind, name)
                yield Slot(operation=operation, part=part, name=name, field=field, fill=fill)
        if operation.body is not None:
            yield from self._inside(operation, operation.body, "", lambda value: _with_body(shortest, value))

    def value(self, field: Field) -> Any:
        """Return the shortest value that a field allows."""
        if "const" in field.limits or field.values:
            return field.limits.get("const", next(iter(field.values), None))
        return self.of_kind(min(field.kinds, default="anything"), field)

    def of_kind(self, kind: str, field: Field) -> Any:
        """Return the shortest value of one kind of a field."""
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
        self, operation: Operation, field: Field, prefix: str, fill: Callable[[Any], APIRequest]
    ) -> Iterator[Slot]:
        for kind in sorted(field.kinds) if "object" not in field.kinds else ():  # what may be any object has no rules
            name = kind.removeprefix("list of ")
            fill_model = _listed(fill) if kind != name else fill
            fields = self._models[name].fields if name in self._models else {}
            for wire, inner in fields.items():
                fill_property = _property(fill_model, self._model(name, without=wire), wire)
                part = f"{prefix}{name}.{wire}"
                yield Slot(operation=operation, part=part, name=wire, field=inner, fill=fill_property)
                yield from self._inside(operation, inner, f"{part}, ", fill_property)


def _text(field: Field) -> str:
    pattern = str(field.limits.get("pattern", ""))
    fitting = [text for text in TEXTS if re.search(pattern, text)]
    return fitting[0] if fitting else TEXTS[0]


def _parameter(shortest: APIRequest, kind: str, name: str) -> Callable[[Any], APIRequest]:
    def fill(value: Any) -> APIRequest:
        query, headers = dict(shortest.query), dict(shortest.headers)
        holder, key = (headers, name.lower()) if kind == "header" else (query, name)
        holder.pop(key, None)
        if value is not ABSENT:
            holder[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return APIRequest(method=shortest.method, path=shortest.path, query=query, headers=headers, body=shortest.body)

    return fill


def _property(fill: Callable[[Any], APIRequest], others: Any, name: str) -> Callable[[Any], APIRequest]:
    return lambda value: fill({**others} if value is ABSENT else {**others, name: value})


def _listed(fill: Callable[[Any], APIRequest]) -> Callable[[Any], APIRequest]:
    return lambda value: fill([value])


def _with_body(shortest: APIRequest, value: Any) -> APIRequest:
    headers = {**shortest.headers, "content-type": "application/json"}
    body = write_json(copy.deepcopy(value))
    return APIRequest(method=shortest.method, path=shortest.path, query=shortest.query, headers=headers, body=body)


def body_of_size(request: APIRequest, size: int) -> APIRequest:
    """Return the request with a body of `size` bytes, by a longer first string."""
    body: Any = read_json(request.body)
    name = next(name for name, value in body.items() if isinstance(value, str))
    missing = size - len(request.body)
    return _with_body(request, {**body, name: body[name] + "A" * missing})
