"""The operations as `openapi.yaml` documents them: routes, versions, parameters, bodies, examples and errors.

`make generate` writes `openapi.json` of this package from that document. Rules about stored data, which the document
cannot state, are in the modules of the operations.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
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
_DECIMAL = re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{1,18}")
# The error for a wrong request to an operation without a documented error.
NO_STATED_ERROR: Schema = {"status": 404, "code": "ResourceNotFound"}
_METHODS = ("get", "put", "post", "delete", "patch")


def properties_of(name: str) -> Mapping[str, Schema]:
    """Return the properties of a named schema."""
    properties: Mapping[str, Schema] = SCHEMAS[name]["properties"]
    return properties


def values_of(name: str) -> tuple[str, ...]:
    """Return the values of a named enum."""
    return tuple(SCHEMAS[name]["enum"])


_EMPTY: Mapping[str, JSON] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
_EXAMPLE_TIME = "2024-01-15T12:00:00.000Z"


def example_of(declared: Schema, around: tuple[Schema, ...] = ()) -> JSON:
    """Return a value of a schema: null where it is allowed, else a documented example or value, else an empty value.

    `around` has the schemas that contain it. An object omits properties of such a schema, and is empty inside itself.
    """
    schema = CHECKS.resolved(declared)
    options = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    kinds = [kind for each in (schema, *options) for kind in _kinds(each)]
    if "null" in kinds:
        return None
    values = [*schema.get("examples", ()), *schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    if values:
        example: JSON = values[0]
        return example
    if options:
        return example_of(options[0], around)
    if "properties" in schema and schema not in around:
        inside = (*around, schema)
        properties = schema["properties"].items()
        return {name: example_of(each, inside) for name, each in properties if CHECKS.resolved(each) not in inside}
    return _EXAMPLE_TIME if schema.get("format") == "date-time" else _EMPTY[(kinds or ["object"])[0]]


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path, in the query or in a header."""

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
        """The value for a request without the parameter."""
        default: JSON = self.schema.get("x-default")
        return default

    def read(self, text: str) -> tuple[JSON, list[Problem]]:
        """Return the parsed value and its problems."""
        value = _parsed(self.schema, text)
        return value, [problem.inside(self.name) for problem in self._check(value) or ()]


def _parsed(schema: Schema, text: str) -> JSON:
    """Return a text as a value of the type of a schema, or unchanged if it has another form."""
    kinds = _kinds(schema)
    if "array" in kinds:
        items = CHECKS.resolved(schema.get("items", {}))
        return [_parsed(items, part.strip()) for part in text.split(",")]
    if "boolean" in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if {"integer", "number"} & {*kinds} and _INTEGER.fullmatch(text.strip()):
        return int(text)
    return float(text) if "number" in kinds and _DECIMAL.fullmatch(text.strip()) else text


@dataclass(frozen=True)
class DocumentedOperation:
    """One operation of the document; `version` is part of the media type of its success (section 9)."""

    name: str
    method: str
    route: str
    version: int
    error: Schema = field(repr=False)
    parameters: Mapping[str, Parameter] = field(repr=False)
    request_body: Schema = field(repr=False)
    status: int
    response: Schema = field(repr=False)
    example: JSON = field(repr=False)

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
        """Return the body as a JSON object, with a detail for each problem; raise the error if it is no JSON object."""
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
        self, query: Mapping[str, str], headers: Mapping[str, str], *, ignored: Sequence[str] = ()
    ) -> tuple[dict[str, JSON], list[Detail]]:
        """Return the parameters by name, with their defaults, and a detail for each problem."""
        values: dict[str, JSON] = {}
        problems: list[Problem] = []
        for name, parameter in self.parameters.items():
            if name in ignored or parameter.place == "path":
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

    def check_path(self, values: Mapping[str, str]) -> list[Detail]:
        """Return a detail for each problem of a parameter in the path."""
        read = (parameter.read(values[name]) for name, parameter in self.parameters.items() if name in values)
        return [self._detail(problem) for _, problems in read for problem in problems]

    def unknown_fields(self, query: Mapping[str, str], body: JSON) -> Iterator[Detail]:
        """Yield a detail for each query parameter and each field of the body that the document does not have."""
        known = {name.strip("$").casefold(): name for name, each in self.parameters.items() if each.place == "query"}
        for name in query:
            if name not in known.values():
                close = get_close_matches(name.strip("$").casefold(), known, n=1)
                hint = f" Did you mean {known[close[0]]}?" if close else ""
                yield self.detail(
                    name[:100], f"The specification does not have this query parameter.{hint}", {"target": name[:100]}
                )
        for path, schema, value in CHECKS.objects(self.body_schema, body):
            for name in value:
                if name not in schema["properties"] and name not in schema.get("x-read-only", ()):
                    place = _place((*path, name[:100]))
                    yield self.detail(place, "The specification does not have this field.")

    def reject_any(self, details: Sequence[Detail]) -> None:
        """Raise the error of the operation if there are details."""
        if details:
            self.reject(*details)

    def reject(self, *details: Detail) -> NoReturn:
        """Raise the error of the operation with these details."""
        raise ErrorResponse(self.error["status"], self.error["code"], "The request is not valid.", details)

    def detail(self, target: str, message: str, error: Mapping[str, str] | None = None) -> Detail:
        """Return a detail of the error, with the code and target that the document states for it."""
        stated = error or {}
        named = f"{self.error.get('prefix', '')}{target}"
        return Detail(stated.get("code") or self.error["detail"], stated.get("target") or named, message)

    def _detail(self, problem: Problem) -> Detail:
        place = _place(problem.path)
        code = problem.error.get("missing") if problem.is_missing else None
        error = {**problem.error, **({"code": code} if code else {})}
        return self.detail(place, f"{place} {problem.message}.", error)

    def _excluded(self, parameter: Parameter, query: Mapping[str, str]) -> Iterator[Problem]:
        names = [name for name in parameter.excludes if name in query]
        if names:
            error = {**parameter.error, "code": parameter.error["excludes"]}
            yield Problem(path=(parameter.name,), message=f"cannot be combined with {', '.join(names)}", error=error)

    def _reject_body(self, message: str) -> NoReturn:
        self.reject(Detail("InvalidRequestBody", None, message))


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
        """Return the body, and a detail for each problem."""
        return self.operation.read_body(self.body, self.headers.get("content-type", ""))

    def respond(self, body: JSON, headers: tuple[tuple[str, str], ...] = ()) -> ServiceResponse:
        """Return the documented success, with the body unless the document has none."""
        has_body = bool(self.operation.response)
        return ServiceResponse(self.operation.status, body if has_body else None, headers, has_body=has_body)

    def read_parameters(self, *, ignored: Sequence[str] = ()) -> tuple[dict[str, JSON], list[Detail]]:
        """Return the parameters of query and headers by name, and a detail for each problem."""
        return self.operation.read_parameters(self.query, self.headers, ignored=ignored)


def respond_with_example(request: OperationRequest) -> ServiceResponse:
    """Check a request by the document alone, and return the documented example, or an example made from the schema."""
    operation = request.operation
    details = operation.check_path(request.path_parameters) + request.read_parameters()[1]
    if operation.body_schema:
        details += request.read_body()[1]
    operation.reject_any(details)
    return request.respond(operation.example)


def _place(path: Path) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return steps.removeprefix(".")


def _operations() -> Iterator[DocumentedOperation]:
    for route, item in _DOCUMENT["paths"].items():
        for method in (method for method in _METHODS if method in item):
            operation = item[method]
            responses = operation["responses"].items()
            status, success = next((int(status), value) for status, value in responses if str(status).startswith("2"))
            content = _resolved(success).get("content", {})  # without a body, `x-accept` names the version
            named = (operation.get("x-accept", ""), *content)
            versions = [match[1] for media_type in named if (match := _VERSION.fullmatch(media_type))]
            declared = (*item.get("parameters", ()), *operation.get("parameters", ()))
            parameters = [_parameter(_resolved(parameter)) for parameter in declared]
            media: Schema = next(iter(content.values()), {})
            yield DocumentedOperation(
                name=operation["operationId"],
                method=method.upper(),
                route=route,
                version=int(versions[0]),
                error={"detail": "InvalidParameter", **_error(operation)},
                parameters={parameter.name: parameter for parameter in parameters},
                request_body=operation.get("requestBody", {}),
                status=status,
                response=CHECKS.resolved(media.get("schema", {})),
                example=_example(media),
            )


def _example(media: Schema) -> JSON:
    documented = [example["value"] for example in media.get("examples", {}).values()]
    return documented[0] if documented else example_of(media.get("schema", {}))


def _error(operation: Schema) -> Schema:
    """Return the error of an operation for a wrong request: its `x-error`, or status and code of its 422 or 400."""
    error: Schema = operation.get("x-error", {})
    for status in () if error else ("422", "400"):
        if status in operation["responses"]:
            content = _resolved(operation["responses"][status]).get("content", {})
            example: Any = _example(next(iter(content.values()), {}))
            code = example["error"]["code"] if example else "InvalidRequest"
            return {"status": int(status), "code": code}
    return error or NO_STATED_ERROR


def _resolved(node: Schema) -> Schema:
    """Return a parameter or a response with its reference followed."""
    if "$ref" not in node:
        return node
    *_, kind, name = node["$ref"].split("/")
    component: Schema = _DOCUMENT["components"][kind][name]
    return component


def _parameter(parameter: Schema) -> Parameter:
    error = parameter.get("x-error", {})
    return Parameter(
        name=parameter["name"],
        place=parameter["in"],
        is_required=parameter.get("required", False),
        schema=CHECKS.resolved(parameter["schema"]),
        error={"missing": "InvalidParameter", **error},
        excludes=tuple(parameter.get("x-excludes", ())),
    )


DOCUMENTED: Mapping[str, DocumentedOperation] = {operation.name: operation for operation in _operations()}
