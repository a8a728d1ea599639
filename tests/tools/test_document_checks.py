"""A document that cannot be generated faithfully is rejected, and the error says what to write instead."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.specification import Document
from tools.generation.document import Problem, parse, with_lines
from tools.generation.document_checks import problems
from tools.generation.generator import write_package

STRING: dict[str, Any] = {"type": "string"}
TEXT: dict[str, Any] = {"name": "tags", "in": "query", "schema": STRING}
TAGS = TEXT | {"schema": {"type": "array", "items": STRING}}
OBJECTS: list[dict[str, Any]] = [{"type": "object", "properties": {name: STRING}} for name in ("radius", "width")]
REFERENCE = {"$ref": "#/components/schemas/Shape"}
ONE: dict[str, Any] = {"type": "object", "properties": {"a": {"const": "x"}}}
PASSWORD = {"type": "object", "properties": {"a": STRING | {"format": "password"}}}
VALUES = {"type": "string", "enum": ["a", "b"]}
PARAMETER, SCHEMA = "paths /itwins/ get", "components schemas Shape"
COLLIDES, NO_NAME = "write another one in `x-python-name`", "its characters make no name in Python"


def object_with(*names: str, **marks: str) -> dict[str, Any]:
    """Return the schema of an object with some properties."""
    return {"type": "object", "properties": dict.fromkeys(names, STRING | marks)}


def of_a_small_document(**schemas: Any) -> list[Problem]:
    """Return the problems of a document with some schemas; one of the whole service takes most of a second."""
    info = {"title": "t", "version": "1"}
    document = {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": schemas}}
    return problems(parse(json.dumps(document, ensure_ascii=False), name="x.yaml"))


def check(found: list[Problem], said: str | None) -> None:
    """Fail unless the only problem says so; None for no problem."""
    assert len(found) == (said is not None), found
    assert all(said in problem.text for problem in found if said)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("_links", "links"), "its name in Python would be links, as that of '_links': " + COLLIDES),
        (("displayName", "display_name"), COLLIDES),
        (("\u00e9", "e\u0301"), COLLIDES),
        *(((name,), f"{NO_NAME}: {COLLIDES}") for name in ("*", "", "_", "\U0001f600")),
        (("3dTiles", "2D", "100%", "1st", "x\u00b2"), None),
        (("class", "None", "import", "self", "str", "list", "datetime", "UUID", "Mapping", "FIELDS"), None),
        (("to_dict", "from_dict", "additional_properties", "wire_fields", "__init__", "mro"), None),
        (
            ("gr\u00f6\u00dfe", "\u65e5\u672c", "a b", "a.c", "$ref", "@type", 'q"uote', "back\\slash", "line\nbreak"),
            None,
        ),
    ],
    ids=ascii,
)
def test_each_property_has_a_name_in_python(names: tuple[str, ...], said: str | None) -> None:
    """A property without a valid or unique name in Python is rejected, and the error says how to choose one."""
    found = of_a_small_document(Shape=object_with(*names))
    check(found, said)
    assert [problem.place for problem in found] == [f"{SCHEMA} properties {names[-1]}"] * bool(said)


@pytest.mark.parametrize(
    ("name", "schema", "said"),
    [
        ("Shape", {"type": "string", "enum": ["a b", "a-b"]}, "the members for 'a b' and 'a-b' would be called A_B"),
        ("Shape", {"type": "string", "enum": ["2D", "*", "", "class", "mro"]}, None),
        ("Shape", {"type": "string", "format": "binary"}, "JSON has no bytes"),
        ("Shape", {"type": "array"}, "write one, or `items: {}`"),
        ("Shape", {"type": "integer", "enum": [1, -1]}, None),
        ("Shape", {"enum": ["a", None]}, "for null beside them"),
        ("Shape", {"enum": [0.5]}, "an enum has strings or integers"),
        ("Shape", VALUES | {"x-enum-varnames": ["1A", "B"]}, "the member for 'a' would be called '1A'"),
        ("Shape", VALUES | {"x-enum-varnames": ["A"]}, "has 2 values and 1 names in x-enum-varnames"),
        ("Shape", object_with("*", **{"x-python-name": "to_dict"}), "Python or each model uses this name"),
        ("Shape", {"properties": {"a": STRING | {"default": "x"}}}, "write `x-default` instead"),
        ("Shape", {"oneOf": OBJECTS}, "nothing tells its objects apart"),
        ("Shape", {"oneOf": [ONE, ONE | {"title": "B"}]}, "nothing tells its objects apart"),
        ("Shape", {"oneOf": [ONE, {"properties": {"a": {"const": "y"}}}]}, None),
        ("Shape", {"allOf": [object_with("b"), {"oneOf": [ONE]}]}, "the properties beside its forms would be lost"),
        ("Shape", {"oneOf": OBJECTS, "x-undecoded": True}, None),
        ("Shape", {"oneOf": [OBJECTS[0] | {"x-complete": True}, OBJECTS[1]], "x-undecoded": True}, "have `x-complete`"),
        ("Shape", {"allOf": [PASSWORD, object_with("a")]}, "write `x-secret: true`"),
        ("Shape", {"allOf": [PASSWORD, {"properties": {"a": True}}]}, "write `x-secret: true`"),
        ("Shape", {"properties": {"a": REFERENCE | {"maxLength": 5}}}, "maxLength beside `$ref` would be ignored"),
        ("Shape", {"properties": {"a": REFERENCE | {"type": "object", "title": "A"}}, "type": "object"}, None),
        ("2DView", object_with("a"), "its class would be '2DView'"),
        ("a.b-c", object_with("a"), None),
    ],
)
def test_a_schema_that_would_be_generated_otherwise_is_rejected(name: str, schema: Any, said: str | None) -> None:
    """A member that replaces another, a default that is sent, and forms that nothing tells apart are named."""
    check(of_a_small_document(**{name: schema}), said)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (TAGS, "write `style: form` and `explode: false`"),
        (TAGS | {"style": "form", "explode": False}, None),
        (TEXT | {"schema": STRING | {"const": "x"}}, "has one value"),
        (TEXT | {"schema": {"type": "object"}}, "describe each property as a parameter"),
        (TEXT | {"schema": STRING | {"default": "blue"}}, "write `x-default` instead"),
        (TEXT | {"in": "cookie"}, "is a cookie, which is not sent"),
        ({"name": "tags", "in": "query", "content": {"application/json": {}}}, "describe it by a schema"),
        (TEXT | {"name": "*"}, "* in query of GET /itwins/ has characters that make no name in Python"),
        (TEXT | {"name": "top"}, "$top and top are both called top: write another `x-python-name`"),
        (TEXT | {"name": "top", "x-python-name": "own_top"}, None),
        (TEXT | {"x-argument": "displayName"}, "displayName and tags are both called display_name"),
        (TEXT | {"x-excludes": ["$nothing"]}, "'$nothing' is not in the document"),
        (TEXT | {"x-exclude": ["$filter"]}, "`x-excludes` was meant"),
        (TEXT | {"x-error": {"code": "InvalidValu"}}, "'InvalidValu' is not in the document"),
        (TEXT | {"x-ms-client-name": "status"}, None),
    ],
)
def test_a_parameter_that_would_be_sent_otherwise_is_rejected(
    specification: Document, added: Any, said: str | None
) -> None:
    """A parameter that would be dropped or changed, a default, and a typo in an `x-` field are rejected."""
    document = copy.deepcopy(specification)
    document["paths"]["/itwins/"]["get"]["parameters"].append(added)
    found = problems(document)
    check(found, said)
    assert all(problem.place.startswith(PARAMETER) for problem in found)


@pytest.mark.parametrize(
    ("responses", "said"),
    [
        ({"2XX": {}}, "write its number, such as '200'"),
        ({"default": {}}, "write its number, such as '200'"),
        ({"200": {"content": {"text/plain": {}}}}, "ends in `json` in place of text/plain"),
        ({"204": {}, "default": {}}, None),
    ],
)
def test_a_success_that_the_sandbox_or_the_client_lacks_is_rejected(
    specification: Document, responses: Document, said: str | None
) -> None:
    """A success has a number as its status, and JSON as its body."""
    document = copy.deepcopy(specification)
    own = document["paths"]["/itwins/"]["get"] | {"x-accept": "application/vnd.a.itwin-platform.v1+json"}
    own["responses"] = {status: each | {"description": "D."} for status, each in responses.items()}
    document["paths"]["/itwins/"]["get"] = own
    check(problems(document), said)


def test_a_problem_of_a_component_has_the_place_of_the_component(specification: Document) -> None:
    """A parameter that many operations share is named where it is written."""
    document = copy.deepcopy(specification)
    document["components"]["parameters"]["Status"] |= {"name": "*"}
    document["components"]["schemas"]["WebhookUpdate"]["x-kinds"] = {"View3d": "Gone"}
    assert [each.text for each in problems(document)] == ["names the schema 'Gone', which does not exist"]
    del document["components"]["schemas"]["WebhookUpdate"]["x-kinds"]
    assert {problem.place for problem in problems(document)} == {"components parameters Status"}


def test_the_committed_document_needs_nothing(specification: Document) -> None:
    """`openapi.yaml` has the form that generated code means."""
    assert problems(specification) == []


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
    """The error of broken YAML, and of a list, names the file and the line."""
    with pytest.raises(SystemExit, match=re.escape(said)):
        parse(text, name="x.yaml")


#: A document as a service publishes it.
PUBLISHED = """
openapi: 3.0.1
info: {title: Users, version: 2020-01-02}
paths:
  /users/{id}:
    get:
      operationId: get-user
      tags: [users]
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: $top, in: query, schema: {type: integer, default: 100, minimum: 0}}
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
        11: ["its default would be sent unasked"],
        23: ["write `type: [string, 'null']`"],
    }
    for number, texts in expected.items():
        assert all(any(at == number and text in line for at, line in said) for text in texts), (number, said)
