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

TEXT = TAGS | {"schema": {"type": "string"}}
COLLIDES, NO_NAME = "say another one in `x-python-name`", "its characters make no name in Python"


def object_with(*names: str) -> dict[str, Any]:
    """Return the schema of an object with some properties."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def of_a_small_document(**schemas: Any) -> list[Problem]:
    """Return the problems of a document with some schemas; one of the whole service takes most of a second."""
    info = {"title": "t", "version": "1"}
    return problems({"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": schemas}})


#: The names of properties, and what is said of them.
NAMES: list[tuple[str | None, ...]] = [
    ("_links", "links", "its name in Python would be links, as that of '_links': " + COLLIDES),
    ("_id", "id", COLLIDES),
    ("name", "Name", COLLIDES),
    ("displayName", "display_name", COLLIDES),
    ("a-b", "a_b", COLLIDES),
    ("class_", "class", COLLIDES),
    ("toDict", "to_dict_", COLLIDES),
    ("\u00e9", "e\u0301", COLLIDES),
    *((name, f"{NO_NAME}: {COLLIDES}") for name in ("*", "", "_", "#", "\U0001f600")),
    ("3dTiles", "2D", "100%", "1st", "x\u00b2", None),
    ("class", "None", "import", "match", "self", "cls", None),
    ("str", "list", "print", "datetime", "UUID", "Mapping", "FIELDS", None),
    ("to_dict", "from_dict", "additional_properties", "wire_fields", "__init__", "mro", None),
    ("gr\u00f6\u00dfe", "\u65e5\u672c", "a b", "a.c", "$ref", "@type", 'q"uote', "back\\slash", "line\nbreak", None),
]

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
    (SCHEMA, {"oneOf": [OBJECTS[0] | {"x-complete": True}, *OBJECTS[1:]], "x-undecoded": True}, "say `x-complete` and"),
    (SCHEMA, {"oneOf": [OBJECTS[0], {"type": "null"}]}, None),
    (PARAMETER, TEXT | {"name": "2D"}, None),
    (PARAMETER, TEXT | {"name": "*"}, "* in query of GET /itwins/ has characters that make no name in Python"),
    (PARAMETER, TEXT | {"name": "*", "x-python-name": "star"}, None),
    (PARAMETER, TEXT | {"name": "top"}, "$top and top are both called top: say another `x-python-name`"),
    (PARAMETER, TEXT | {"name": "top", "x-python-name": "own_top"}, None),
    (
        PARAMETER,
        TEXT | {"x-excludes": ["$nothing"]},
        "tags names '$nothing', which is no query parameter of GET /itwins/",
    ),
]


@pytest.mark.parametrize(("names", "said"), [(names, said) for *names, said in NAMES], ids=ascii)
def test_each_property_has_a_name_in_python(names: list[str], said: str | None) -> None:
    """What makes no name, or one that another property has, is rejected with the way to choose one."""
    found = of_a_small_document(Shape=object_with(*names))
    assert [problem.place for problem in found] == [f"components schemas Shape properties {names[-1]}"] * bool(said)
    assert all(said in problem.text for problem in found if said)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"enum": ["a b", "a-b"]}, "the members for 'a b' and 'a-b' would be called A_B"),
        ({"enum": ["a", "A"]}, "the members for 'a' and 'A' would be called A"),
        ({"enum": [1, -1]}, None),
        ({"enum": ["2D", "*", "", "class", "mro"]}, None),
        ({"enum": ["a", "b"], "x-enum-varnames": ["1A", "B"]}, "the member for 'a' would be called '1A'"),
    ],
    ids=str,
)
def test_each_value_of_an_enum_has_a_name_in_python(values: dict[str, Any], said: str | None) -> None:
    """No member replaces another one."""
    kind = "integer" if values["enum"][0] == 1 else "string"
    found = of_a_small_document(Shape={"type": kind, **values})
    assert [said in problem.text for problem in found if said] == [True] * (said is not None)
    assert len(found) == (said is not None)


@pytest.mark.parametrize("name", ["to_dict", "additional_properties", "class", "type"])
def test_a_name_that_is_chosen_must_be_free(name: str) -> None:
    """Neither a keyword nor a member of all models can be the name of a field."""
    shape = {"type": "object", "properties": {"*": {"type": "string", "x-python-name": name}}}
    assert [each.text for each in of_a_small_document(Shape=shape)] == [
        "Python or each model uses this name: say another one in `x-python-name`"
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [("2DView", "its class would be '2DView'"), ("_", "its class would be ''"), ("a.b-c", None), ("class", None)],
)
def test_a_schema_has_the_name_of_a_class(name: str, said: str | None) -> None:
    """Its name is not sent, so another one is asked for."""
    found = of_a_small_document(**{name: object_with("a")})
    assert [said in problem.text for problem in found if said] == [True] * (said is not None)
    assert len(found) == (said is not None)


@pytest.mark.parametrize("name", ["import", "2d_get"])
def test_an_operation_has_the_name_of_a_function(specification: Document, name: str) -> None:
    """Its name is not sent, so another one is asked for."""
    document = copy.deepcopy(specification)
    document["paths"]["/itwins/"]["get"]["operationId"] = name
    assert f"names the function: write `operationId: get_{name}`" in {each.text for each in problems(document)}


def test_a_problem_of_a_parameter_has_the_line_of_the_parameter(specification: Document) -> None:
    """Also where a component has it, and in the path item."""
    document = copy.deepcopy(specification)
    document["components"]["parameters"]["Status"]["x-excludes"] = ["$nothing"]
    document["paths"]["/itwins/"]["parameters"] = [TEXT | {"name": "*"}]
    assert {problem.place for problem in problems(document)} == {
        "components parameters Status x-excludes",
        "paths /itwins/ parameters 0",
    }


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
    [("WebhookUpdate", "uniqueItems"), ("RepositoryOptions", "exclusiveMinimum"), ("Webhook", None)],
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
