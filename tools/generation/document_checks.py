"""What a document must say so that the generated code sends and decodes what it means.

The generator drops or changes these things without a warning. Each problem names its place and what to write.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
#: The one parameter whose default is sent: it is made of the media type that the operation returns.
SENT_BY_DEFAULT = "Accept"


def problems(document: Node) -> list[str]:
    """Return a line for each part of a document that needs another form."""
    return [
        *_parameters(document),
        *(text for place, node in nodes(document) for text in _schema(document, place, node)),
    ]


def nodes(node: object, place: str = "#") -> Iterator[tuple[str, Node]]:
    """Return every object of a document with its place. Examples are data and are not looked into."""
    if isinstance(node, Mapping):
        yield place, node
        for name, value in node.items():
            if name not in ("example", "examples", "enum", "const", "default", "x-default"):
                yield from nodes(value, f"{place}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from nodes(value, f"{place}/{number}")


def followed(document: Node, node: Node) -> Node:
    """Return what a reference leads to, or the node itself."""
    while "$ref" in node:
        target: Any = document
        for step in str(node["$ref"]).removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def _parameters(document: Node) -> Iterator[str]:
    for path, item in document.get("paths", {}).items():
        for method, operation in item.items():
            if method not in METHODS:
                continue
            for declared in (*item.get("parameters", ()), *operation.get("parameters", ())):
                parameter = followed(document, declared)
                place = f"{parameter.get('name')} in {parameter.get('in')} of {method.upper()} {path}"
                yield from _parameter(document, place, parameter)


def _parameter(document: Node, place: str, parameter: Node) -> Iterator[str]:
    schema = followed(document, parameter.get("schema", {}))
    kind, where = schema.get("type"), parameter.get("in")
    if "schema" not in parameter:
        yield f"{place}: has no schema, so it would not be sent: describe it by a schema"
    if where == "cookie":
        yield f"{place}: cookies are not sent: describe it as a header or a query parameter"
    style = parameter.get("style", "form" if where == "query" else "simple")
    exploded = parameter.get("explode", style == "form")
    if kind == "array" and where == "query" and (style != "form" or exploded):
        yield f"{place}: lists are sent joined by commas: say `style: form` and `explode: false`, if that is accepted"
    if kind == "object" or "properties" in schema:
        yield f"{place}: objects are not sent as parameters: describe each property as a parameter"
    default = parameter.get("schema", {}).get("default", schema.get("default"))
    if default is not None and parameter.get("name") != SENT_BY_DEFAULT:
        yield f"{place}: its default {default!r} would be sent with every call: say `x-default` instead of `default`"


def _schema(document: Node, place: str, node: Node) -> Iterator[str]:
    values, names = node.get("enum"), node.get("x-enum-varnames")
    if isinstance(values, list) and isinstance(names, list):
        if len(values) != len(names):
            count = f"{len(values)} values and {len(names)} names"
            yield f"{place}: has {count} in x-enum-varnames: without one name each, all members would be renamed"
        elif len(set(names)) < len(names):
            yield f"{place}: x-enum-varnames has a name twice"
    if isinstance(properties := node.get("properties"), Mapping) and "/components/schemas/" in place:
        for name, inner in properties.items():
            if isinstance(inner, Mapping) and "default" in inner:
                yield f"{place}/properties/{name}: its default would be sent unasked: say `x-default` instead"
    branches = [*(node.get("oneOf") or ()), *(node.get("anyOf") or ())]
    objects = [branch for branch in branches if _is_object(document, branch)]
    if len(objects) > 1 and node.get("x-undecoded") is not True and not all(_constants(document, o) for o in objects):
        yield (
            f"{place}: nothing tells its objects apart, so none is decoded: give each a property with a `const`, "
            "or say `x-undecoded: true` if values are to stay dictionaries"
        )


def _is_object(document: Node, schema: Node) -> bool:
    return "properties" in followed(document, schema)


def _constants(document: Node, schema: Node) -> list[object]:
    properties = followed(document, schema).get("properties", {})
    return [inner["const"] for inner in properties.values() if "const" in followed(document, inner)]
