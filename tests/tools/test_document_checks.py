"""A document that the generator would change or drop a part of is rejected, with what to write instead."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.specification import Document
from tools.generation.document import Problem, parse, with_lines
from tools.generation.document_checks import problems
from tools.generation.generator import write_package
from tools.generation.unchecked import KEYWORDS, PLACES, unchecked

TAGS = {"name": "tags", "in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}}
OBJECTS = [{"type": "object", "properties": {name: {"type": "number"}}} for name in ("radius", "width")]
VALUES = {"type": "string", "enum": ["a", "b"]}
PARAMETER, SCHEMA = "paths /itwins/ get", "components schemas Shape"

# Where the problem is when a parameter or a schema is added, what it is, and what is said about it.
CASES: list[tuple[str, dict[str, Any], str | None]] = [
    (PARAMETER, TAGS, "say `style: form` and `explode: false`"),
    (PARAMETER, TAGS | {"style": "pipeDelimited"}, "say `style: form` and `explode: false`"),
    (PARAMETER, TAGS | {"style": "form", "explode": False}, None),
    (PARAMETER, TAGS | {"in": "header"}, "describe it as a string"),
    (PARAMETER, TAGS | {"schema": {"type": "string", "const": "x"}}, "has one value"),
    (PARAMETER, TAGS | {"schema": {"type": "string"}, "allowReserved": True}, "is percent-encoded"),
    (PARAMETER, TAGS | {"schema": {"type": "object"}}, "describe each property as a parameter"),
    (PARAMETER, TAGS | {"schema": {"type": "string", "default": "blue"}}, "say `x-default` instead"),
    (PARAMETER, TAGS | {"schema": {"type": "string", "x-default": "blue"}}, None),
    (PARAMETER, TAGS | {"in": "cookie", "schema": {"type": "string"}}, "is a cookie, which is not sent"),
    (PARAMETER, {"name": "tags", "in": "query", "content": {"application/json": {}}}, "describe it by a schema"),
    (SCHEMA, VALUES | {"x-enum-varnames": ["A"]}, "has 2 values and 1 names in x-enum-varnames"),
    (SCHEMA, VALUES | {"x-enum-varnames": ["A", "A"]}, "has non-unique elements"),
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


@pytest.mark.parametrize(
    ("place", "fields", "said"),
    [
        ("parameters Status", {"x-exclude": ["$filter"]}, "`x-excludes` was meant"),
        ("parameters Status", {"x-defualt": "Active"}, "`x-default` was meant"),
        ("parameters Status", {"x-error": {"cod": "InvalidValue"}}, "'cod' was unexpected"),
        ("parameters Status", {"x-error": {"code": "InvalidValu"}}, "'InvalidValu' is not in the document"),
        ("parameters Status", {"x-excludes": 3}, "3 is not of type 'array'"),
        ("parameters Filter", {"x-excludes": ["$nothing"]}, "names '$nothing', which is no query parameter"),
        ("parameters Number", {"x-argument": "displayName"}, "number and displayName are both called display_name"),
        ("schemas WebhookUpdate", {"x-read-only": ["gone"]}, "'gone' is not in the document"),
        ("schemas WebhookUpdate", {"x-names": "Gone"}, "names the schema 'Gone', which is not there"),
        ("schemas WebhookUpdate", {"x-kinds": {"View3d": "Gone"}}, "names the schema 'Gone', which is not there"),
        ("parameters Status", {"x-ms-client-name": "status", "x-nullable": True}, None),
    ],
)
def test_a_field_beyond_openapi_has_its_form_and_names_what_is_there(
    specification: Document, place: str, fields: dict[str, Any], said: str | None
) -> None:
    """A typo in one would remove a check, so it is rejected; the fields of others are left alone."""
    document = copy.deepcopy(specification)
    kind, name = place.split()
    document["components"][kind][name] |= fields
    found = [problem.text for problem in problems(document)]
    assert found if said else not found
    assert all(said in text for text in found if said)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_that_no_check_knows_is_rejected_in_a_request(specification: Document, keyword: str) -> None:
    """A rule that neither the client nor the sandbox would check is named."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["DetectorCreate"]["properties"]["description"][keyword] = KEYWORDS[keyword]
    assert any(f"no check knows `{keyword}`" in problem.text for problem in problems(document))


@pytest.mark.parametrize("place", PLACES)
def test_a_limit_in_a_place_that_no_check_knows_is_rejected_in_a_request(specification: Document, place: str) -> None:
    """The limit is named with the place in which nothing would check it."""
    document = copy.deepcopy(specification)
    document["components"]["schemas"]["DetectorCreate"]["properties"]["added"] = PLACES[place]
    assert [place in problem.text for problem in problems(document)] == [True]


#: A document as a service publishes it.
PUBLISHED = """
openapi: 3.0.1
info: {title: Users, version: 2020-01-02}
paths:
  /users/{id}:
    get:
      operationId: get-user
      tags: [users]
      security: [{oauth: []}]
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: $top, in: query, schema: {type: integer, default: 100, minimum: 0, exclusiveMinimum: true}}
      responses:
        200:
          description: The user, as of NO.
          content:
            application/vnd.acme.itwin-platform.v1+json:
              schema: {$ref: '#/components/schemas/User'}
components:
  schemas:
    User:
      type: object
      properties:
        name: {type: string, nullable: true}
        country: {type: string, enum: [NO, SE]}
        born: {type: string, format: date, example: 2020-01-02}
"""


def test_one_run_says_everything_of_a_published_document(tmp_path: Path) -> None:
    """OpenAPI 3.0, hyphens and defaults are named together, each with its line and the line to write."""
    with pytest.raises(SystemExit) as caught:
        write_package(parse(PUBLISHED, name="it.yaml"), tmp_path / "package", name="it.yaml", text=PUBLISHED)
    said = [(int(line.split(":")[1]), line) for line in str(caught.value).splitlines()[1:]]
    expected = {
        2: ["write `openapi: 3.1.0`"],
        7: ["write `operationId: get_user`"],
        9: ["'oauth' is not in components.securitySchemes"],
        12: ["its default would be sent unasked", "write `minimum: 1`"],
        24: ["write `type: [string, 'null']`"],
    }
    for number, texts in expected.items():
        assert all(any(at == number and text in line for at, line in said) for text in texts), (number, said)
