"""Writes the JSON types of each response as the data of `templates/support/expected.py`."""

from collections.abc import Mapping
from typing import Any

from openapi_python_client.parser.openapi import Endpoint

from tools.generation.document import Node, alternatives, constants, operation_called, resolve
from tools.generation.naming import plain

SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
#: A type as `expected.py` describes it.
Expected = Any


def expected_of(document: Node, endpoint: Endpoint) -> Expected:
    """Return the types of an operation's response; None where it has no body in JSON."""
    operation, _ = operation_called(document, plain(endpoint.name))
    found = [resolve(document, each) for status, each in operation["responses"].items() if str(status)[0] == "2"]
    schemas = [media.get("schema", {}) for each in found for media in each.get("content", {}).values()]
    kinds = [_expected(document, schema, inside=()) for schema in schemas]
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None


def _expected(document: Node, declared: Node, *, inside: tuple[str, ...]) -> Expected:
    name, schema = str(declared.get("$ref", "")), resolve(document, declared)
    if "x-undecoded" in schema or name in inside:
        return None
    inside = (*inside, name) if name else inside
    branches, _ = alternatives(schema)
    if len(branches) > 1:
        forms = {constants(document, each).get("type"): _expected(document, each, inside=inside) for each in branches}
        return None if None in forms else (forms,)
    if branches != [schema]:
        return _expected(document, branches[0], inside=inside)
    match schema.get("type"):
        case "array":
            return [_expected(document, schema.get("items") or {}, inside=inside)]
        case "object":
            properties: Mapping[str, Node] = schema.get("properties", {})
            # Links are checked by what follows them.
            wires = [wire for wire in properties if wire != "_links"]
            return {wire: _expected(document, properties[wire], inside=inside) for wire in wires}
        case kind:
            return SCALARS.get(str(kind))
