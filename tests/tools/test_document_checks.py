"""A document that the generator would change or drop a part of is rejected, with what to write instead."""

import copy
import re
from typing import Any

import pytest

from tests.support.specification import Document
from tools.generation.document import Problem, parse, with_lines
from tools.generation.document_checks import problems, unchecked

TAGS = {"name": "tags", "in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}}
OBJECTS = [{"type": "object", "properties": {name: {"type": "number"}}} for name in ("radius", "width")]
VALUES = {"type": "string", "enum": ["a", "b"]}
PARAMETER, SCHEMA = "paths /itwins/ get", "components schemas Shape"

# Where the problem is when a parameter or a schema is added, what it is, and what is said about it.
CASES: list[tuple[str, dict[str, Any], str | None]] = [
    (PARAMETER, TAGS, "say `style: form` and `explode: false`"),
    (PARAMETER, TAGS | {"style": "pipeDelimited"}, "say `style: form` and `explode: false`"),
    (PARAMETER, TAGS | {"style": "form", "explode": False}, None),
    (PARAMETER, TAGS | {"in": "header"}, None),
    (PARAMETER, TAGS | {"schema": {"type": "object"}}, "describe each property as a parameter"),
    (PARAMETER, TAGS | {"schema": {"type": "string", "default": "blue"}}, "say `x-default` instead"),
    (PARAMETER, TAGS | {"schema": {"type": "string", "x-default": "blue"}}, None),
    (PARAMETER, TAGS | {"in": "cookie", "schema": {"type": "string"}}, "is a cookie, which is not sent"),
    (PARAMETER, {"name": "tags", "in": "query", "content": {"application/json": {}}}, "describe it by a schema"),
    (SCHEMA, VALUES | {"x-enum-varnames": ["A"]}, "has 2 values and 1 names in x-enum-varnames"),
    (SCHEMA, VALUES | {"x-enum-varnames": ["A", "A"]}, "has a name twice"),
    (SCHEMA, VALUES | {"x-enum-varnames": ["A", "B"]}, None),
    (SCHEMA, {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}, "say `x-default` instead"),
    (SCHEMA, {"oneOf": OBJECTS}, "nothing tells its objects apart"),
    (SCHEMA, {"anyOf": OBJECTS}, "nothing tells its objects apart"),
    (SCHEMA, {"oneOf": OBJECTS, "x-undecoded": True}, None),
    (SCHEMA, {"oneOf": [OBJECTS[0], {"type": "null"}]}, None),
]


def test_the_committed_document_needs_nothing(specification: Document) -> None:
    """`openapi.yaml` has the form that generated code means."""
    assert problems(specification) == []


@pytest.mark.parametrize(("place", "added", "said"), CASES)
def test_what_would_be_sent_or_decoded_otherwise_is_rejected(
    specification: Document, place: str, added: dict[str, Any], said: str | None
) -> None:
    """What generated code would drop, change, send unasked or decode wrongly is reported once, with its place."""
    document = copy.deepcopy(specification)
    if place == PARAMETER:
        document["paths"]["/itwins/"]["get"]["parameters"].append(added)
    else:
        document["components"]["schemas"]["Shape"] = added
    found = problems(document)
    assert [problem.place.startswith(place) for problem in found] == [True] * (said is not None)
    assert all(said in problem.text for problem in found if said)


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


@pytest.mark.parametrize(
    ("keys", "line"), [(("components", "schemas", "Thing"), 4), (("components", "paths", "/"), 2), ((), 1)]
)
def test_a_problem_has_the_line_of_its_place(keys: tuple[str, ...], line: int) -> None:
    """The line is that of the key, or of the innermost place around it that the text has."""
    text = "openapi: 3.1.0\ncomponents:\n  schemas:\n    Thing:\n      type: object\n      enum: [a,\n        b]\n"
    found = with_lines([Problem(keys=keys, text="is wrong")], text=text, name="x.yaml")
    assert found == [f"x.yaml:{line}: {' '.join(keys)}: is wrong"]


@pytest.mark.parametrize(
    ("text", "said"), [("a: [1\nb: 2\n", "x.yaml:2: no YAML: "), ("- a\n", "x.yaml:1: no OpenAPI document")]
)
def test_a_text_that_is_no_document_is_rejected_with_its_line(text: str, said: str) -> None:
    """Neither broken YAML nor a list ends in a traceback."""
    with pytest.raises(SystemExit, match=re.escape(said)):
        parse(text, name="x.yaml")
