"""A document that the generator would change or drop a part of is rejected, with what to write instead."""

import copy
import re
from typing import Any

import pytest

from tests.support.regenerated import Document
from tools.generation.document import Problem, parse, with_lines
from tools.generation.document_checks import problems, unchecked

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
    (PARAMETER | {"schema": {"type": "string", "default": "blue"}}, "say `x-default` instead"),
    (PARAMETER | {"schema": {"type": "string", "x-default": "blue"}}, None),
    (PARAMETER | {"in": "cookie", "schema": {"type": "string"}}, "is a cookie, which is not sent"),
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
    found = [problem for problem in problems(document) if problem.text.startswith("tags in")]
    assert [problem.place for problem in found] == ["paths /itwins/ get"] * (said is not None)
    assert all(said in problem.text for problem in found if said)


@pytest.mark.parametrize(("schema", "said"), SCHEMAS)
def test_schema_that_would_be_decoded_otherwise_is_rejected(
    specification: Document, schema: dict[str, Any], said: str | None
) -> None:
    """A schema whose members or values contradict it is reported with its place."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["Shape"] = schema
    found = problems(document)
    assert (said is None and not found) or (said is not None and len(found) == 1 and said in found[0].text)
    assert all(problem.place.startswith("components schemas Shape") for problem in found)


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [("WebhookUpdate", "uniqueItems"), ("StoredRepositoryOptions", "exclusiveMinimum"), ("Webhook", None)],
)
def test_a_rule_of_a_request_that_nothing_checks_is_rejected(
    specification: Document, schema: str, keyword: str | None
) -> None:
    """A limit that neither the client nor the sandbox would check is named; a response may have any."""
    document = copy.deepcopy(specification)
    properties = document["components"]["schemas"][schema]["properties"]
    name = next(iter(properties))
    properties[name][keyword or "uniqueItems"] = True
    found = [f"{problem.place}: {problem.text}" for problem in unchecked(document)]
    said = f"no check knows `{keyword}`: say it otherwise, or in the description alone"
    assert found == [f"components schemas {schema} properties {name}: {said}"] * (keyword is not None)


def test_a_problem_has_the_line_of_its_place() -> None:
    """The line is that of the key, or of the innermost place around it that the text has."""
    text = "openapi: 3.1.0\ncomponents:\n  schemas:\n    Thing:\n      type: object\n      enum: [a,\n        b]\n"
    for keys, line in [(("components", "schemas", "Thing"), 4), (("components", "paths", "/"), 2), ((), 1)]:
        [said] = with_lines([Problem(keys=keys, text="is wrong")], text=text, name="x.yaml")
        assert said == f"x.yaml:{line}: {' '.join(keys)}: is wrong"


@pytest.mark.parametrize(
    ("text", "said"), [("a: [1\nb: 2\n", "x.yaml:2: no YAML: "), ("- a\n", "x.yaml:1: no OpenAPI document")]
)
def test_a_text_that_is_no_document_is_rejected_with_its_line(text: str, said: str) -> None:
    """Neither broken YAML nor a list ends in a traceback."""
    with pytest.raises(SystemExit, match=re.escape(said)):
        parse(text, name="x.yaml")
