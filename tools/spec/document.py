"""Walks a parsed OpenAPI document: its methods, its nodes, and its references."""

from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
#: Keys whose values are data, in which `$ref` or `schema` would be a name like any other.
_DATA = ("example", "examples", "enum", "const", "default", "x-default")


def nodes(node: object, location: str = "#") -> Iterator[tuple[str, Node]]:
    """Yield every object of a document with its location. Examples and other data are skipped."""
    if isinstance(node, Mapping):
        yield location, node
        for name, value in node.items():
            if name not in _DATA:
                yield from nodes(value, f"{location}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from nodes(value, f"{location}/{number}")


def resolve(document: Node, node: Node) -> Node:
    """Return the target of a reference, or the node itself."""
    while "$ref" in node:
        target: Any = document
        for step in str(node["$ref"]).removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node
