"""Checks of a document for what the generator would drop or change, or the client would send otherwise.

Each problem names its place and what to write instead.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tools.generation.accept import accepted
from tools.generation.document import Keys, Node, Problem, nodes, operations, resolve
from tools.generation.extensions import extensions
from tools.generation.naming import pascal_case, snake_case
from tools.generation.unchecked import unchecked
from tools.generation.validity import invalid


def problems(document: Node) -> list[Problem]:
    """Return what must be written in another form; of what is not valid, only that and the forms of OpenAPI 3.0."""
    old, document = [*_old_forms(document)], modern(document)
    return old + (
        invalid(document)
        or [
            *(problem for check in _OPERATION for problem in check(document)),
            *(problem for keys, node in nodes(document) for problem in _schema(document, keys, node)),
        ]
    )


def modern(node: Any) -> Any:
    """Return a document without what only OpenAPI 3.0 has."""
    if isinstance(node, list):
        return [modern(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    kept = {key: value for key, value in node.items() if key not in _EXCLUSIVE or not isinstance(value, bool)}
    return {key: "3.1.0" if key == "openapi" else modern(value) for key, value in kept.items()}


#: Limits that were true or false, each with the limit beside it, and the step to the next integer.
_EXCLUSIVE = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


def _old_forms(document: Node) -> Iterator[Problem]:
    """Yield the forms of OpenAPI 3.0, which 3.1 ignores or rejects, each with the line to write."""
    if not str(document.get("openapi")).startswith("3.1."):
        yield Problem(keys=("openapi",), text="the generator reads OpenAPI 3.1: write `openapi: 3.1.0`")
    for keys, node in nodes(document):
        if isinstance(node.get("nullable"), bool):
            kind, line = node.get("type"), "remove it"
            if node["nullable"]:
                line = f"write `type: [{kind}, 'null']`" if kind else "write `oneOf: [{...}, {type: 'null'}]` around it"
            yield Problem(keys=(*keys, "nullable"), text=f"is of OpenAPI 3.0: {line}")
        for name, (limit, step) in _EXCLUSIVE.items():
            if isinstance(node.get(name), bool) and isinstance(node.get(limit), int | float):
                line = f"`{limit}: {node[limit] + step * node[name]}`"
                yield Problem(
                    keys=(*keys, name), text=f"is of OpenAPI 3.0: write {line} without it, if it is an integer"
                )


def _parameters(document: Node) -> Iterator[Problem]:
    for path, method, _, parameters in operations(document):
        for parameter in parameters:
            for text in _parameter(document, path, parameter):
                yield Problem(keys=("paths", path, method), text=f"{parameter['name']} in {parameter['in']} {text}")


def _parameter(document: Node, path: str, parameter: Node) -> Iterator[str]:
    schema = resolve(document, parameter.get("schema", {}))
    is_list, where = schema.get("type") == "array", parameter["in"]
    style = parameter.get("style", "simple" if where == "path" else "form")
    default = parameter.get("schema", {}).get("default", schema.get("default"))
    wrong = {
        "has no schema, so it would not be sent: describe it by a schema": "schema" not in parameter,
        "is a cookie, which is not sent: describe it as a header or a query parameter": where == "cookie",
        "is not in the path: add it there, or remove the parameter": (
            where == "path" and f"{{{parameter['name']}}}" not in path
        ),
        "is a list, which the generator does not send in a header: describe it as a string": (
            is_list and where == "header"
        ),
        "is a list, which is sent joined by commas: say `style: form` and `explode: false` if that works": (
            is_list and where == "query" and (style != "form" or parameter.get("explode", True) is not False)
        ),
        "would be sent percent-encoded in one piece, in style `simple`: describe it as a string": (
            where == "path" and (is_list or style != "simple")
        ),
        "is an object, which is not sent: describe each property as a parameter": (
            schema.get("type") == "object" or "properties" in schema
        ),
        "is percent-encoded, whatever `allowReserved` says: remove that": parameter.get("allowReserved") is True,
        "has one value, which a caller need not choose: say it in `enum`, or in the path": "const" in schema,
        f"has the default {default!r}, which would be sent with every call: say `x-default` instead": (
            default is not None
        ),
    }
    yield from (text for text, is_so in wrong.items() if is_so)


def _accept(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        if accepted(document, operation) is None:
            others = {
                accept.replace("{vendor}", "vendor")
                for other, _, node, _ in operations(document)
                if other.split("/")[1] == path.split("/")[1] and (accept := accepted(document, node))
            }
            example = " or ".join(sorted(others)) or "application/vnd.vendor.itwin-platform.v1+json"
            text = f"no success says the version to ask for: say it, such as `x-accept: {example}`"
            yield Problem(keys=("paths", path, method), text=text)


def _names(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        keys, name = ("paths", path, method), str(operation.get("operationId", f"{method} {path}"))
        snake = snake_case(re.sub(r"\W+", "_", name)).strip("_")
        if "operationId" not in operation or name != snake:
            yield Problem(keys=(*keys, "operationId"), text=f"names the function: write `operationId: {snake}`")
        if len(operation.get("tags", ())) != 1:
            yield Problem(
                keys=(*keys, "tags"), text="name the folder of the function: write one, such as `tags: [scenes]`"
            )


def _class_names(document: Node) -> Iterator[Problem]:
    """Yield the schemas, and the enums inside a property, whose class would have the name of another schema."""
    schemas = document.get("components", {}).get("schemas", {})
    names: dict[str, str] = {}
    for name in schemas:
        taken = names.setdefault(pascal_case(name), name)
        if taken != name:
            text = f"its class would be called {pascal_case(name)}, as that of {taken}: give it another name"
            yield Problem(keys=("components", "schemas", name), text=text)
    for name, schema in schemas.items():
        for wire, inner in (schema.get("properties") or {}).items():
            if "enum" in inner and (other := names.get(pascal_case(f"{name}_{wire}"))):
                text = f"its enum would be called {other}, as another schema: write `$ref: '#/components/schemas/...'`"
                yield Problem(keys=("components", "schemas", name, "properties", wire), text=text)


def _bodies(document: Node) -> Iterator[Problem]:
    for path, method, operation, _ in operations(document):
        content = resolve(document, operation.get("requestBody", {})).get("content", {})
        for media_type in content:
            if media_type != "application/json":
                text = f"the body is sent as application/json, not as {media_type}"
                yield Problem(keys=("paths", path, method, "requestBody"), text=text)


def _security(document: Node) -> Iterator[Problem]:
    schemes = document.get("components", {}).get("securitySchemes", {})
    for name, scheme in schemes.items():
        if (scheme.get("type"), str(scheme.get("scheme")).lower()) != ("http", "bearer"):
            text = (
                "the client sends `Authorization: Bearer` and nothing else: an HTTP scheme `bearer` is what it can use"
            )
            yield Problem(keys=("components", "securitySchemes", name), text=text)
    for keys, node in (
        ((), document),
        *((("paths", path, method), node) for path, method, node, _ in operations(document)),
    ):
        for name in {name for each in node.get("security", ()) for name in each} - schemes.keys():
            text = f"{name!r} is not in components.securitySchemes: name one of {', '.join(schemes) or 'them'}"
            yield Problem(keys=(*keys, "security"), text=text)


_OPERATION: tuple[Callable[[Node], Iterator[Problem]], ...] = (
    extensions,
    _names,
    _class_names,
    _parameters,
    _accept,
    _bodies,
    _security,
    unchecked,
)


def _schema(document: Node, keys: Keys, node: Node) -> Iterator[Problem]:
    kinds = {type(value) for value in node["enum"]} if isinstance(node.get("enum"), list) else {str}
    if kinds not in ({str}, {int}, {bool}):
        text = "an enum has strings or integers; for null beside them, write `oneOf: [{$ref: ...}, {type: 'null'}]`"
        yield Problem(keys=(*keys, "enum"), text=text)
    if node.get("format") == "password" and node.get("x-secret") is not True:
        yield Problem(keys=keys, text="is a password, which `repr` would show: say `x-secret: true`")
    for text in _member_names(node):
        yield Problem(keys=keys, text=text)
    yield from _defaults(keys, node)
    yield from _kinds(document, keys, node)
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if "properties" in resolve(document, branch)]
    if len(objects) < 2 or node.get("x-undecoded") is True:
        return
    if not all(_constants(document, branch) for branch in objects):
        yield Problem(
            keys=keys,
            text="nothing tells its objects apart, so none is decoded: give each a property with a `const`, "
            "or say `x-undecoded: true` if values are to stay dictionaries",
        )


def _member_names(node: Node) -> Iterator[str]:
    values, names = node.get("enum"), node.get("x-enum-varnames")
    if not isinstance(values, list) or not isinstance(names, list):
        return
    if len(values) != len(names):
        count = f"{len(values)} values and {len(names)} names"
        yield f"has {count} in x-enum-varnames: without one name each, all members would be renamed"


def _defaults(keys: Keys, node: Node) -> Iterator[Problem]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or keys[:2] != ("components", "schemas"):
        return
    for name, inner in properties.items():
        if "default" in inner:
            text = "its default would be sent unasked: say `x-default` instead"
            yield Problem(keys=(*keys, "properties", name), text=text)


def _kinds(document: Node, keys: Keys, node: Node) -> Iterator[Problem]:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or "kind" in properties:
        return
    for name, inner in properties.items():
        if "x-kinds" in resolve(document, inner):
            yield Problem(
                keys=(*keys, "properties", name), text="has `x-kinds`, and there is no property `kind` beside it"
            )


def _constants(document: Node, schema: Node) -> list[object]:
    properties = [resolve(document, inner) for inner in resolve(document, schema).get("properties", {}).values()]
    return [inner["const"] for inner in properties if "const" in inner]
