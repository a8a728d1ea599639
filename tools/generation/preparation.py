"""Prepares a document for the generator, so that each argument keeps its own description.

The generator takes the description of the referenced schema instead, and makes a class for every object. References to
sections of the service description are removed, because readers of the package do not have it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tools.generation.accept import with_accept
from tools.generation.document import Node, rebuilt, resolve, without_source
from tools.generation.naming import FIELD_NAMES, field_names

#: The key of an object with the values of `x-secret` of its properties.
MARKS = "x-secret-properties"
SCALARS = ("string", "integer", "number", "boolean")


def prepared(document: Node) -> dict[str, Any]:
    """Return the document to generate from."""
    complete = with_accept(document)
    prepare = partial(_prepared, complete)
    return {name: node if name == "info" else rebuilt(node, prepare) for name, node in complete.items()}


def _prepared(document: Node, node: dict[str, Any]) -> dict[str, Any]:
    node = _as_generated(document, {key: value for key, value in node.items() if not _is_dropped(key, value)})
    if isinstance(words := node.get("description"), str):
        node["description"] = without_source(words)
    if "in" in node and isinstance(node.get("schema"), dict):
        node = {**node, "schema": _described(document, node["schema"], node.get("description"))}
    if "$ref" in node and "description" in node:
        node = _described(document, node, node["description"])
    return node


def _is_dropped(key: object, value: object) -> bool:
    """Return whether to drop a title, which would name the class, or `additionalProperties: false`.

    A later version of the service may add properties.
    """
    return (key == "title" and isinstance(value, str)) or (key == "additionalProperties" and value is False)


def _as_generated(document: Node, node: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in the form that the generator needs, with the names and the secrets of its properties."""
    if node.get("x-undecoded") is True:
        # The generator makes no class for a schema without a type, so values stay dictionaries.
        models = [{"$ref": f"#/components/schemas/{name}"} for name in node.get("x-kinds", {}).values()]
        node = {key: value for key, value in node.items() if key not in ("type", "additionalProperties")}
        node |= {"anyOf": [*models, {}]} if models else {}
    if "x-values" in node:
        forms = [{"$ref": f"#/components/schemas/{node['x-values']}"}, {"type": "string", "const": ""}]
        forms += [{"type": "null"}] if "null" in node.get("type", ()) else []
        node = {key: value for key, value in node.items() if key != "type"} | {"oneOf": forms}
    marks = secret_marks(document, node)
    names = field_names(node["properties"]) if isinstance(node.get("properties"), Mapping) else {}
    return node | ({MARKS: marks} if marks else {}) | ({FIELD_NAMES: names} if names else {})


def secret_marks(document: Node, schema: Node) -> dict[str, bool]:
    """Return the value of `x-secret` of each property that has one."""
    found: dict[str, bool] = {}
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        mark = inner.get("x-secret", resolve(document, inner).get("x-secret")) if isinstance(inner, Mapping) else None
        if isinstance(mark, bool):
            found[name] = mark
    return found


def _described(document: Node, schema: Node, words: object) -> dict[str, Any]:
    """Return the schema of a scalar or a list with another description, and any other schema unchanged."""
    target = resolve(document, schema)
    if words is None or "enum" in target or not (target.get("type") in SCALARS or "items" in target):
        return dict(schema)
    return {**target, "description": words}
