"""Writes the JSON types of each response as the data of `templates/support/expected.py`."""

from collections.abc import Mapping
from typing import Any

from openapi_python_client.parser.openapi import Endpoint

from tools.generation.document import Node, operations, resolve

SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
#: A type as `expected.py` describes it.
Expected = Any


def expected_of(document: Node, endpoint: Endpoint) -> Expected:
    """Return the types of an operation's response; None where it has no body in JSON."""
    wanted = _without_names(endpoint.path.get_untrusted_value()), endpoint.method
    for path, method, operation, _ in operations(document):
        if (_without_names(path), method) == wanted:
            found = (
                resolve(document, each) for status, each in operation["responses"].items() if str(status)[0] == "2"
            )
            contents = [media for each in found for media in each.get("content", {}).values()]
            kinds = [_expected(document, media.get("schema", {}), inside=()) for media in contents]
            return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None
    return None


def _expected(document: Node, declared: Node, *, inside: tuple[str, ...]) -> Expected:
    name, schema = str(declared.get("$ref", "")), resolve(document, declared)
    if (name and name in inside) or "x-undecoded" in schema:
        return None
    inside = (*inside, name) if name else inside
    branches = [each for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())) if each.get("type") != "null"]
    if len(branches) > 1:
        return _forms(document, branches, inside=inside)
    if branches:
        return _expected(document, branches[0], inside=inside)
    kinds = schema.get("type")
    named = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else [kinds]
    if named == ["array"]:
        return [_expected(document, schema.get("items") or {}, inside=inside)]
    if named == ["object"]:
        properties: Mapping[str, Node] = schema.get("properties", {})
        # Links are checked by what follows them.
        return {wire: _expected(document, properties[wire], inside=inside) for wire in properties if wire != "_links"}
    return SCALARS.get(str(named[0])) if len(named) == 1 else None


def _forms(document: Node, branches: list[Node], *, inside: tuple[str, ...]) -> Expected:
    """Return the types of an object by its property `type`; None for any other that has several forms."""
    forms: dict[str, Expected] = {}
    for branch in branches:
        constant = resolve(document, branch).get("properties", {}).get("type", {}).get("const")
        if not isinstance(constant, str):
            return None
        forms[constant] = _expected(document, branch, inside=inside)
    return (forms,)


def _without_names(path: str) -> str:
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))
