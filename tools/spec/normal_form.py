"""Bring a document into a normal form in which a difference has one place: operations and list items by their names."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tools.generation.accept import accepted
from tools.generation.document import METHODS, Node, operations, reached

#: Keywords whose objects have names as keys.
NAMES = ("properties", "schemas", "responses", "headers", "content", "securitySchemes")
#: Keywords whose values are data.
DATA = ("example", "examples", "const", "default")

Uses = defaultdict[str, tuple[set[str], set[str]]]


def normal_form(document: Node) -> dict[str, Any]:
    """Return a document with its operations by name, and with shared parameters in each of their operations."""
    components = {key: node for key, node in document.get("components", {}).items() if key != "parameters"}
    named = {
        str(node.get("operationId", f"{method} {path}")): {
            **_named(document, {**node, "parameters": parameters}),
            "route": f"{method.upper()} {path}",
            "accept": accepted(document, node),
        }
        for path, method, node, parameters in operations(document)
    }
    paths = {
        path: rest
        for path, item in document.get("paths", {}).items()
        if (rest := {key: node for key, node in item.items() if key not in (*METHODS, "parameters")})
    }
    return {**_named(document, {**document, "components": components, "paths": paths}), "operations": named}


def uses(*documents: Node) -> Uses:
    """Return the operations that send and those that return each component, by its reference."""
    found = Uses(lambda: (set(), set()))
    for document in documents:
        for path, method, node, parameters in operations(document):
            name = str(node.get("operationId", f"{method} {path}"))
            for side, part in enumerate(([parameters, node.get("requestBody", {})], node.get("responses", {}))):
                for reference in reached(document, part):
                    found[reference][side].add(name)
    return found


def _named(document: Node, node: Any, key: str = "") -> Any:
    if isinstance(node, list):
        return [_named(document, item) for item in node]
    if not isinstance(node, Mapping):
        return node
    if key in NAMES:
        return {name: _named(document, inner) for name, inner in node.items()}
    names = node.get("x-enum-varnames", ())
    # The values report their names, but not a surplus name.
    is_reported = len(names) <= len(node.get("enum", ()))
    named = {name: _keyword(document, node, name) for name in node if name != "x-enum-varnames" or not is_reported}
    return _with_null(named)


def _keyword(document: Node, node: Node, key: str) -> Any:
    """Return the value of a keyword; a list of named items becomes an object with these names as keys."""
    value = node[key]
    match key, value:
        case "$ref", str():
            return value.removeprefix("#/components/")
        case "enum", list():
            members = [*node.get("x-enum-varnames", ()), *map(str, value)]
            return dict(zip(map(str, value), members, strict=False))
        case "type", str():
            return {value: True}
        case (("type" | "required"), list()):
            return dict.fromkeys(value, True)
        case "parameters", list():
            return {f"{each['in']} {each['name']}": _named(document, each) for each in value}
        case (("oneOf" | "anyOf" | "allOf"), list()):
            names = [str(each.get("$ref", each.get("type", ""))).rpartition("/")[2] for each in value]
            keys = [name if names.count(name) == 1 else f"{name} {number}" for number, name in enumerate(names)]
            return {name: _named(document, each) for name, each in zip(keys, value, strict=True)}
    return value if key in DATA else _named(document, value, key)


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that allows null by its types, and not by an alternative."""
    for key in ("oneOf", "anyOf"):
        branches = schema.get(key)
        if isinstance(branches, dict) and "null" in branches and len(branches) == 2:
            other = next(branch for name, branch in branches.items() if name != "null")
            rest = {name: value for name, value in schema.items() if name != key}
            return {**other, **rest, "type": {**other.get("type", {}), "null": True}}
    return schema
