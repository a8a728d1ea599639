"""A document in the form that the generator reads: the same meaning, in the words of `openapi.yaml`.

The generator documents an argument or an attribute by what its schema refers to, and gives every object a class.
"""

from collections.abc import Mapping
from typing import Any

from tools.generation.document_checks import followed
from tools.spec.accept import with_accept

Document = Mapping[str, Any]
SCALARS = ("string", "integer", "number", "boolean")


def prepared(document: Document) -> dict[str, Any]:
    """Return the document to generate from."""
    complete = with_accept(document)
    return {name: node if name == "info" else _prepared(complete, node) for name, node in complete.items()}


def _prepared(document: Document, node: Any) -> Any:
    if isinstance(node, list):
        return [_prepared(document, item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("x-undecoded") is True:
        # Without a type it has no class of its own, so that values stay as they came.
        node = {key: value for key, value in node.items() if key not in ("type", "additionalProperties")}
    if "in" in node and isinstance(node.get("schema"), dict):
        node = {**node, "schema": _described(document, node["schema"], node.get("description"))}
    if "$ref" in node and "description" in node:
        node = _described(document, node, node["description"])
    return {key: _prepared(document, value) for key, value in node.items()}


def _described(document: Document, schema: Document, words: object) -> dict[str, Any]:
    """Return a scalar with the words of the place where it is used; another schema stays."""
    target = followed(document, schema)
    if words is None or "enum" in target or not (target.get("type") in SCALARS or "items" in target):
        return dict(schema)
    return {**target, "description": words}
