"""Reads an OpenAPI document into a `Specification` without references."""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.generation.accept import with_accept
from tools.generation.document import METHODS, Node, resolve
from tools.spec.specification import Field, Model, Operation, Specification

LIMITS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern", "format", "const"),
)


def read(document: Node) -> Specification:
    """Read a parsed document."""
    document = with_accept(document)
    reader = _Reader(document)
    operations = [
        reader.operation(path, method, node, item.get("parameters", []))
        for path, item in document.get("paths", {}).items()
        for method, node in item.items()
        if method in METHODS
    ]
    return Specification(operations={operation.name: operation for operation in operations}, models=reader.models())


class _Reader:
    """A reader of the nodes of one document, which collects the models with a name."""

    def __init__(self, document: Node) -> None:
        self._document = document
        enums = document.get("components", {}).get("schemas", {}).items()
        self._met: dict[str, Node] = {name: schema for name, schema in enums if "enum" in schema}

    def operation(self, path: str, method: str, node: Node, shared: list[Node]) -> Operation:
        name = str(node.get("operationId") or f"{method.upper()} {path}")
        responses = {str(status): resolve(self._document, response) for status, response in node["responses"].items()}
        successes = {status: response for status, response in responses.items() if status.startswith("2")}
        failures = {status: response for status, response in responses.items() if status not in successes}
        body = resolve(self._document, node["requestBody"]) if "requestBody" in node else None
        return Operation(
            name=name,
            method=method.upper(),
            path=path,
            tag=next(iter(node.get("tags", [])), "default"),
            preview=node.get("x-technical-preview") is True,
            words=_words(node),
            parameters=self._parameters(name, [*shared, *node.get("parameters", [])]),
            body=None if body is None else self._field(_schema(body) or {}, f"{name} body", holder=body),
            responses={
                status: None if (schema := _schema(response)) is None else self._field(schema, f"{name} response")
                for status, response in successes.items()
            },
            response_headers=frozenset(name for response in successes.values() for name in response.get("headers", {})),
            errors=_error_codes(failures),
            details=_details(failures),
        )

    def _parameters(self, operation: str, nodes: list[Node]) -> dict[str, Field]:
        found: dict[str, Field] = {}
        for parameter in (resolve(self._document, node) for node in nodes):
            name = parameter["name"]
            # A parameter has a schema, or one of its media types has it.
            holders: list[Node] = [parameter, *parameter.get("content", {}).values()]
            schema: Node = next((each["schema"] for each in holders if "schema" in each), {})
            field = self._field(schema, f"{operation} {name}", holder=parameter)
            found[f"{parameter['in']} {name}"] = field
        return found

    def models(self) -> dict[str, Model]:
        """Return every model collected so far, and those that they refer to."""
        found: dict[str, Model] = {}
        while waiting := [name for name in self._met if name not in found]:
            for name in waiting:
                schema = self._met[name]
                required = self._merged(schema, "required", ())
                found[name] = Model(
                    fields={
                        property_name: self._field(node, f"{name}.{property_name}", required=property_name in required)
                        for property_name, node in self._properties(schema).items()
                    },
                    values=tuple(map(str, schema.get("enum", ()))),
                    members=dict(
                        zip(map(str, schema.get("enum", ())), schema.get("x-enum-varnames", ()), strict=False)
                    ),
                    words=_words(schema),
                )
        return found

    def _field(self, schema: Node, place: str, *, holder: Node | None = None, required: bool = False) -> Field:
        holder = holder or {}
        kinds: set[str] = set()
        values: list[str] = []
        limits: dict[str, object] = {}
        for kind, plain in self._alternatives(schema, place):
            kinds.add(kind)
            values += [str(value) for value in plain.get("enum", ())]
            limits |= {limit: plain[limit] for limit in LIMITS if limit in plain}
        if "x-max-body-bytes" in holder:
            limits["bytes"] = holder["x-max-body-bytes"]
        return Field(
            kinds=frozenset(kinds - {"null"}),
            required=required or holder.get("required") is True,
            nullable="null" in kinds,
            values=tuple(values),
            limits=limits,
            default=schema.get("default", schema.get("x-default")),
            words=_words(holder) or _words(schema),
        )

    def _alternatives(self, schema: Node, place: str) -> Iterator[tuple[str, Node]]:
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        plain = resolve(self._document, schema)
        if branches := [*plain.get("oneOf", ()), *plain.get("anyOf", ()), *_named_forms(plain)]:
            for branch in branches:
                yield from self._alternatives(branch, place)
        elif self._properties(plain) or ("enum" in plain and name):
            self._met.setdefault(name or place, plain)
            yield name or place, {}
        elif plain.get("type") == "array":
            own = {limit: plain[limit] for limit in LIMITS if limit in plain}
            for kind, item in self._alternatives(plain.get("items", {}), f"{place} item"):
                yield f"list of {kind}", {**item, **own}
        else:
            listed = plain.get("type", "anything")
            for kind in listed if isinstance(listed, list) else [listed]:
                yield str(kind), plain

    def _properties(self, schema: Node) -> dict[str, Node]:
        return dict(self._merged(schema, "properties", {}))

    def _merged(self, schema: Node, key: str, empty: Any) -> Any:
        parts = [self._merged(resolve(self._document, part), key, empty) for part in schema.get("allOf", ())]
        merged = type(empty)(schema.get(key, empty))
        for part in parts:
            merged = {**part, **merged} if isinstance(merged, dict) else (*part, *merged)
        return merged


def _named_forms(schema: Node) -> Iterator[Node]:
    """Return the forms that `x-kinds` and `x-values` name, and the open form beside them."""
    if names := [*schema.get("x-kinds", {}).values(), *([schema["x-values"]] if "x-values" in schema else [])]:
        yield from ({"$ref": f"#/components/schemas/{name}"} for name in names)
        yield {"type": schema["type"]}


def _schema(content: Node) -> Node | None:
    found: Node | None = next((media.get("schema") for media in content.get("content", {}).values()), None)
    return found


def _error_codes(failures: Mapping[str, Node]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (status, code)
        for status, response in failures.items()
        for code in [str(error["code"]) for error in _errors(response)] or ["any code"]
    )


def _details(failures: Mapping[str, Node]) -> frozenset[tuple[str, str, str | None]]:
    return frozenset(
        (status, str(detail["code"]), detail.get("target"))
        for status, response in failures.items()
        for error in _errors(response)
        for detail in error.get("details", ())
    )


def _errors(response: Node) -> list[Node]:
    """Return the error bodies in the examples of an error response."""
    values = [
        example.get("value", {}).get("error")
        for media in response.get("content", {}).values()
        for example in media.get("examples", {}).values()
    ]
    return [error for error in values if isinstance(error, Mapping) and "code" in error]


def _words(node: Node) -> str:
    return " ".join(str(node.get("description", "")).split())
