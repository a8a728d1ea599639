"""The operations as `openapi.yaml` documents them: routes, versions, parameters, bodies, and errors of wrong requests.

`openapi.json` in the package is the document as `make generate` writes it. What the document cannot say, such as rules
about what is stored, is in the modules of the operations.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from .credentials import Caller
from .data_files import data_file
from .json_values import JSON, JSONObject, NotJSONError
from .messages import Body, Detail, ErrorResponse, ServiceResponse
from .schema_checks import Check, Path, Problem, Schema, SchemaChecks

_DOCUMENT: Mapping[str, Any] = json.loads(data_file("openapi.json"))
SCHEMAS: Mapping[str, Schema] = _DOCUMENT["components"]["schemas"]
CHECKS = SchemaChecks(SCHEMAS)

_JSON_MEDIA_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)
_VERSION = re.compile(r"application/vnd\.\w+\.itwin-platform\.v(\d+)\+json")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
# Of an operation that documents no error for a wrong request; `strict` uses it.
NO_STATED_ERROR: Schema = {"status": 404, "code": "ResourceNotFound", "detail": "InvalidParameter"}
_METHODS = ("get", "put", "post", "delete", "patch")


def properties_of(name: str) -> Mapping[str, Schema]:
    """Return the properties of a named schema."""
    properties: Mapping[str, Schema] = SCHEMAS[name]["properties"]
    return properties


def values_of(name: str) -> tuple[str, ...]:
    """Return the values of a named enum."""
    return tuple(SCHEMAS[name]["enum"])


_EMPTY: Mapping[str, JSON] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}


def example_of(name: str) -> JSONObject:
    """Return an object with all properties of a named schema: null where it is allowed, else an example or a value."""
    found: JSONObject = {}
    for wire, declared in properties_of(name).items():
        schema = CHECKS.resolved(declared)
        kinds = schema.get("type", "null")
        values = [*schema.get("examples", ()), *schema.get("enum", ())]
        found[wire] = None if "null" in kinds else values[0] if values else _EMPTY[kinds]
    return found


@dataclass(frozen=True)
class Parameter:
    """A parameter in the query or in a header."""

    name: str
    place: str
    is_required: bool
    schema: Schema = field(repr=False)
    error: Schema = field(repr=False)
    excludes: tuple[str, ...]

    @cached_property
    def _check(self) -> Check:
        return CHECKS.check(self.schema, error=self.error)

    @property
    def default(self) -> JSON:
        """What the service uses when the parameter is not sent."""
        default: JSON = self.schema.get("x-default")
        return default

    def read(self, text: str) -> tuple[JSON, list[Problem]]:
        """Return the value that the text means, and what is wrong with it."""
        value = _parsed(str(self.schema.get("type")), text)
        return value, [problem.inside(self.name) for problem in self._check(value) or ()]


def _parsed(kind: str, text: str) -> JSON:
    """Return the value of a text, or the text itself where it is none of this kind."""
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text.strip()) else text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    return [part.strip() for part in text.split(",")] if kind == "array" else text


@dataclass(frozen=True)
class DocumentedOperation:
    """One operation of the document; `version` is the one in the vendor media type of its success (section 9)."""

    name: str
    method: str
    route: str
    version: int
    error: Schema = field(repr=False)
    parameters: Mapping[str, Parameter] = field(repr=False)
    request_body: Schema = field(repr=False)
    status: int
    response: Schema = field(repr=False)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The route as a pattern for percent-encoded paths: an id may contain an encoded slash."""
        # Other clients of the platform omit the slash at the end of a collection.
        path = f"{self.route}?" if self.route.endswith("/") else self.route
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

    @cached_property
    def body_schema(self) -> Schema:
        """The schema of the body; empty when the operation has none."""
        content = self.request_body.get("content", {})
        return CHECKS.resolved(content["application/json"]["schema"]) if content else {}

    @cached_property
    def _check(self) -> Check:
        return CHECKS.check(self.body_schema)

    def read_body(self, body: Body, content_type: str) -> tuple[JSONObject, list[Detail]]:
        """Return the body as a JSON object, and what the document says against it; raise the error for any other."""
        most = self.request_body.get("x-max-body-bytes")
        if most is not None and len(body.content) > most:
            error = self.request_body["x-error"]
            raise ErrorResponse(error["status"], error["code"], f"The request body is larger than {most} bytes.")
        media_type = content_type.partition(";")[0].strip()
        if not _JSON_MEDIA_TYPE.fullmatch(media_type):
            self._reject_body(f"Content-Type must be application/json, not {media_type[:100]!r}.")
        try:
            value = body.json()
        except NotJSONError as error:
            self._reject_body(f"The body is not JSON: {error}.")
        if not isinstance(value, dict):
            self._reject_body("The body must be a JSON object.")
        return value, [self._detail(problem) for problem in self._check(value) or ()]

    def read_parameters(
        self, query: Mapping[str, str], headers: Mapping[str, str], *, by_hand: Sequence[str] = ()
    ) -> tuple[dict[str, JSON], list[Detail]]:
        """Return the parameters by name, with their defaults, and what the document says against them.

        Parameters that are read `by_hand` are omitted.
        """
        values: dict[str, JSON] = {}
        problems: list[Problem] = []
        for name, parameter in self.parameters.items():
            if name in by_hand:
                continue
            text = query.get(name) if parameter.place == "query" else headers.get(name.lower())
            if text is not None:
                values[name], found = parameter.read(text)
                problems += found
                problems += self._excluded(parameter, query)
            elif parameter.is_required:
                problems.append(Problem(path=(name,), message="is required", is_missing=True, error=parameter.error))
            else:
                values[name] = parameter.default
        return values, [self._detail(problem) for problem in problems]

    def odd_fields(self, body: JSONObject, reason_of: Callable[[str, str], str | None]) -> Iterator[Detail]:
        """Yield a detail for each property that the document does not have, and for each string with a reason."""
        for path, schema, value in CHECKS.objects(self.body_schema, body):
            properties = schema["properties"]
            for name, item in value.items():
                reason = reason_of(name, item) if isinstance(item, str) else None
                if name not in properties and name not in schema.get("x-read-only", ()):
                    is_shown = not path and name in self._shown
                    reason = "The field is read-only." if is_shown else "The specification does not have this field."
                if reason is not None:
                    error = CHECKS.resolved(properties.get(name, {})).get("x-error", {})
                    place = _place((*path, name[:100]))
                    yield self.detail(place, reason, {**error, "code": self.error["detail"]}, inferred="strict")

    @cached_property
    def _shown(self) -> Mapping[str, Schema]:
        """The properties of what the response shows, which may be wrapped in one property."""
        properties: Mapping[str, Schema] = self.response.get("properties", {})
        wrapped = CHECKS.resolved(next(iter(properties.values()), {}))
        return wrapped.get("properties") or properties

    def reject_any(self, details: Sequence[Detail]) -> None:
        """Raise the error of the operation if there are details."""
        if details:
            self.reject(*details)

    def reject(self, *details: Detail) -> NoReturn:
        """Raise the error of the operation with these details."""
        # The document says so where the operation documents no error for such a request.
        inferred = "scene-objects-not-found" if self.error.get("inferred") else None
        message = "The request is not valid."
        raise ErrorResponse(self.error["status"], self.error["code"], message, details, inferred=inferred)

    def detail(
        self, target: str, message: str, error: Mapping[str, str] | None = None, *, inferred: str | None = None
    ) -> Detail:
        """Return a detail of the error, with the code and target that the document states for it."""
        stated = error or {}
        named = f"{self.error.get('prefix', '')}{target}"
        rule = inferred or (None if stated.get("code") else "detail-unstated")
        return Detail(stated.get("code") or self.error["detail"], stated.get("target") or named, message, rule)

    def _detail(self, problem: Problem) -> Detail:
        place = _place(problem.path)
        code = problem.error.get("missing") if problem.is_missing else None
        error = {**problem.error, **({"code": code} if code else {})}
        rule = "detail-unstated" if code and not problem.error.get("stated", True) else None
        return self.detail(place, f"{place} {problem.message}.", error, inferred=rule)

    def _excluded(self, parameter: Parameter, query: Mapping[str, str]) -> Iterator[Problem]:
        names = [name for name in parameter.excludes if name in query]
        if names:
            error = {**parameter.error, "code": parameter.error["excludes"]}
            yield Problem(path=(parameter.name,), message=f"cannot be combined with {', '.join(names)}", error=error)

    def _reject_body(self, message: str) -> NoReturn:
        self.reject(Detail("InvalidRequestBody", None, message, "body-not-json"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """The input of one operation: caller, decoded path parameters, query, headers and body."""

    operation: DocumentedOperation
    caller: Caller
    path_parameters: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    body: Body = field(repr=False)
    url: str

    def read_body(self) -> tuple[JSONObject, list[Detail]]:
        """Return the body, and what the document says against it."""
        return self.operation.read_body(self.body, self.headers.get("content-type", ""))

    def respond(
        self, body: JSON, headers: tuple[tuple[str, str], ...] = (), *, inferred: tuple[str, ...] = ()
    ) -> ServiceResponse:
        """Return the documented success, with the body unless the document has none."""
        operation = self.operation
        return ServiceResponse(
            operation.status,
            body if operation.response else None,
            headers,
            inferred=inferred,
            has_body=bool(operation.response),
        )

    def read_parameters(self, *, by_hand: Sequence[str] = ()) -> tuple[dict[str, JSON], list[Detail]]:
        """Return the parameters of query and headers by name, and what the document says against them."""
        return self.operation.read_parameters(self.query, self.headers, by_hand=by_hand)


def _place(path: Path) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return steps.removeprefix(".")


def _operations() -> Iterator[DocumentedOperation]:
    for route, item in _DOCUMENT["paths"].items():
        for method in (method for method in _METHODS if method in item):
            operation = item[method]
            responses = operation["responses"].items()
            status, success = next((int(status), value) for status, value in responses if str(status).startswith("2"))
            content = success.get("content", {})  # one without a body says its version in `x-accept`
            named = (operation.get("x-accept", ""), *content)
            versions = [match[1] for media_type in named if (match := _VERSION.fullmatch(media_type))]
            parameters = [_resolved_parameter(parameter) for parameter in operation.get("parameters", ())]
            yield DocumentedOperation(
                name=operation["operationId"],
                method=method.upper(),
                route=route,
                version=int(versions[0]),
                error=operation.get("x-error", NO_STATED_ERROR),
                parameters={parameter.name: parameter for parameter in parameters if parameter.place != "path"},
                request_body=operation.get("requestBody", {}),
                status=status,
                response=CHECKS.resolved(next(iter(content.values()))["schema"]) if content else {},
            )


def _resolved_parameter(parameter: Schema) -> Parameter:
    if "$ref" in parameter:
        parameter = _DOCUMENT["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
    error = parameter.get("x-error", {})
    return Parameter(
        name=parameter["name"],
        place=parameter["in"],
        is_required=parameter.get("required", False),
        schema=CHECKS.resolved(parameter["schema"]),
        error={"missing": "InvalidParameter", "stated": "missing" in error, **error},
        excludes=tuple(parameter.get("x-excludes", ())),
    )


DOCUMENTED: Mapping[str, DocumentedOperation] = {operation.name: operation for operation in _operations()}
