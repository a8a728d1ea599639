"""A document that the generator would change or drop a part of is rejected, with what to write instead."""

import copy
from typing import Any

import pytest

from tests.support.regenerated import Document
from tools.generation.document_checks import problems

PARAMETER = {"name": "tags", "in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}}
OBJECTS = [
    {"type": "object", "properties": {"radius": {"type": "number"}}},
    {"type": "object", "properties": {"width": {"type": "number"}}},
]

# A parameter of list iTwins, and what is said about it.
PARAMETERS: list[tuple[dict[str, Any], str | None]] = [
    (PARAMETER, "say `style: form` and `explode: false`"),
    (PARAMETER | {"style": "pipeDelimited"}, "say `style: form` and `explode: false`"),
    (PARAMETER | {"style": "form", "explode": False}, None),
    (PARAMETER | {"in": "header"}, None),
    (PARAMETER | {"schema": {"type": "object"}}, "describe each property as a parameter"),
    (PARAMETER | {"schema": {"type": "string", "default": "blue"}}, "say `x-default` instead of `default`"),
    (PARAMETER | {"schema": {"type": "string", "x-default": "blue"}}, None),
    (PARAMETER | {"in": "cookie", "schema": {"type": "string"}}, "cookies are not sent"),
    ({"name": "tags", "in": "query", "content": {"application/json": {}}}, "describe it by a schema"),
]

# A schema, and what is said about it.
SCHEMAS: list[tuple[dict[str, Any], str | None]] = [
    ({"type": "string", "enum": ["a", "b"], "x-enum-varnames": ["A"]}, "has 2 values and 1 names in x-enum-varnames"),
    ({"type": "string", "enum": ["a", "b"], "x-enum-varnames": ["A", "A"]}, "has a name twice"),
    ({"type": "string", "enum": ["a", "b"], "x-enum-varnames": ["A", "B"]}, None),
    ({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}, "say `x-default` instead"),
    ({"oneOf": OBJECTS}, "nothing tells its objects apart"),
    ({"anyOf": OBJECTS}, "nothing tells its objects apart"),
    ({"oneOf": OBJECTS, "x-undecoded": True}, None),
    ({"oneOf": [OBJECTS[0], {"type": "null"}]}, None),
]


def test_the_committed_document_needs_nothing(specification: Document) -> None:
    """`openapi.yaml` has the form that generated code means."""
    assert problems(specification) == []


@pytest.mark.parametrize(("parameter", "said"), PARAMETERS)
def test_parameter_that_would_be_sent_otherwise_is_rejected(
    specification: Document, parameter: dict[str, Any], said: str | None
) -> None:
    """A parameter that generated code would drop, change or send unasked is named with its operation."""
    document = copy.deepcopy(specification)
    document["paths"]["/itwins/"]["get"]["parameters"].append(parameter)
    found = problems(document)
    assert [text for text in found if "tags in" in text and "GET /itwins/" in text] == found
    assert (said is None and not found) or (said is not None and len(found) == 1 and said in found[0])


@pytest.mark.parametrize(("schema", "said"), SCHEMAS)
def test_schema_that_would_be_decoded_otherwise_is_rejected(
    specification: Document, schema: dict[str, Any], said: str | None
) -> None:
    """A schema whose members or values contradict it is reported with its location."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["Shape"] = schema
    found = problems(document)
    assert (said is None and not found) or (said is not None and len(found) == 1 and said in found[0])
    assert all(text.startswith("#/components/schemas/Shape") for text in found)
