"""`make spec-diff`: every difference has a line, breaking changes come first, and the status tells of them."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.processes import ended
from tests.support.specification import Document
from tools.generation.document import SPECIFICATION, load_document
from tools.spec import diff
from tools.spec.diff import report
from tools.spec.normal_form import differences

#: A document that has a part of each kind.
THINGS: Document = yaml.safe_load("""
openapi: 3.1.0
info: {title: Things, version: '1'}
servers: [{url: /}]
paths:
  /things:
    post:
      operationId: create_thing
      tags: [things]
      description: Creates.
      security: [{bearer: []}]
      x-accept: application/vnd.vendor.itwin-platform.v1+json
      parameters: [{name: $top, in: query, schema: {type: integer, maximum: 100, x-default: 10}}]
      requestBody:
        x-max-body-bytes: 1000
        content: {application/json: {schema: {$ref: '#/components/schemas/ThingCreate'}}}
      responses:
        '201':
          description: Made.
          headers: {X-Count: {schema: {type: integer}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
        '409':
          description: There is one.
          content: {application/json: {examples: {exists: {value: {error: {code: ThingExists, target: id}}}}}}
components:
  securitySchemes: {bearer: {type: http, scheme: bearer}}
  schemas:
    Thing: &thing
      type: object
      required: [id, color]
      properties:
        id: {type: string, maxLength: 10}
        color: {$ref: '#/components/schemas/Color'}
        note: {oneOf: [{type: string}, {type: 'null'}]}
        made: {type: string, format: date-time}
    ThingCreate: *thing
    Color: {type: string, enum: [red, blue], x-enum-varnames: [RED, BLUE]}
""")
GONE = object()
Keys = tuple[Any, ...]


def with_value(node: Any, keys: Sequence[Any], value: object) -> Any:
    """Return a document with another value at one place, or without the place; it shares the rest."""
    first, *rest = keys
    if isinstance(node, list):
        number = int(first)
        inner = [with_value(node[number], rest, value)] if rest else [] if value is GONE else [value]
        return [*node[:number], *inner, *node[number + 1 :]]
    new = with_value(node[first], rest, value) if rest else value
    return {**node, first: new} if new is not GONE else {name: node[name] for name in node if name != first}


def replaced(document: Document, changed: Mapping[Any, Any]) -> Document:
    """Return the document with other values at some places, which are given by their keys."""
    for place, value in changed.items():
        document = with_value(document, place.split() if isinstance(place, str) else place, value)
    return document


POST, SCHEMAS = "paths /things post", "components schemas"
THING, SENT, COLOR = f"{SCHEMAS} Thing", f"{SCHEMAS} ThingCreate", f"{SCHEMAS} Color"
TOP, ERROR = f"{POST} parameters 0", f"{POST} responses 409 content application/json examples exists value error"
TAG = {"name": "tag", "in": "query", "schema": {"type": "string"}}
STRING, EITHER = {"type": "string"}, {"type": ["string", "integer"], "maxLength": 10}
BREAKS, HARMLESS, ALSO, WORDS = diff.HEADINGS
CODE = "create_thing responses 409 application/json examples exists value error code"
# A place in the document, its new value, the heading, and the line below it.
CASES: list[tuple[str, Any, str, str]] = [
    ("paths", {}, BREAKS, "create_thing: gone, was POST /things"),
    ("paths", {"/t": THINGS["paths"]["/things"]}, BREAKS, "create_thing route: is POST /t now, was POST /things"),
    ("paths /more", {"get": {"operationId": "more", "responses": {}}}, HARMLESS, "more: new: GET /more"),
    (f"{POST} operationId", "make", BREAKS, "create_thing operationId: is make now, was create_thing"),
    (f"{POST} deprecated", True, ALSO, "create_thing deprecated: new"),
    (f"{POST} description", "Creates, once a day.", WORDS, "create_thing description"),
    (f"{POST} responses 202", {"description": "Soon."}, BREAKS, "create_thing responses 202: new"),
    (f"{POST} responses 409", GONE, BREAKS, "create_thing responses 409: gone"),
    (f"{POST} responses 201 headers", {}, BREAKS, "create_thing responses 201 headers X-Count: gone"),
    (f"{ERROR} code", "Taken", BREAKS, f"{CODE}: is Taken now, was ThingExists"),
    (TOP, GONE, BREAKS, "create_thing query $top: gone"),
    (f"{POST} parameters 1", TAG, HARMLESS, "create_thing query tag: new"),
    (f"{POST} parameters 1", {**TAG, "required": True}, BREAKS, "create_thing query tag: new"),
    (f"{TOP} required", True, BREAKS, "create_thing query $top required: new"),
    (f"{TOP} schema maximum", 50, BREAKS, "create_thing query $top maximum: is 50 now, was 100"),
    (f"{TOP} schema maximum", 500, HARMLESS, "create_thing query $top maximum: is 500 now, was 100"),
    (f"{TOP} schema maximum", GONE, HARMLESS, "create_thing query $top maximum: gone, was 100"),
    (f"{TOP} schema x-default", 20, HARMLESS, "create_thing query $top x-default: is 20 now, was 10"),
    (f"{SENT} required", ["id", "color", "note"], BREAKS, "ThingCreate required note: new"),
    (f"{THING} required", ["id", "color", "note"], HARMLESS, "Thing required note: new"),
    (f"{THING} required", ["color"], BREAKS, "Thing required id: gone"),
    (f"{THING} properties note", GONE, BREAKS, "Thing note: gone"),
    (f"{THING} properties extra", {"type": "boolean"}, HARMLESS, "Thing extra: new"),
    (f"{SENT} properties note", STRING, BREAKS, "ThingCreate note type null: gone"),
    (f"{THING} properties id", EITHER, BREAKS, "Thing id type integer: new"),
    (f"{SENT} properties id", EITHER, HARMLESS, "ThingCreate id type integer: new"),
    (f"{THING} properties made format", GONE, BREAKS, "Thing made format: gone, was date-time"),
    (f"{SENT} properties id enum", ["one"], BREAKS, "ThingCreate id enum: new"),
    (f"{COLOR} enum 2", "green", HARMLESS, "Color enum green: new: green"),
    (f"{COLOR} enum", ["blue"], BREAKS, "Color enum red: gone, was RED"),
    ("info title", "Another", WORDS, "info title"),
]


@pytest.mark.parametrize(("changed", "value", "heading", "line"), CASES)
def test_a_change_is_reported(changed: str, value: object, heading: str, line: str) -> None:
    """A change has a line with its place, below the heading for breaking changes, for others, or for words."""
    lines = [re.sub(r" \(.*?\)", "", each) for each in report(THINGS, replaced(THINGS, {changed: value}))]
    at = lines.index(f"  {line}")
    assert next(each for each in reversed(lines[:at]) if not each.startswith(" ")).startswith(f"{heading}: ")


def test_a_change_of_a_schema_names_the_operations() -> None:
    """The line of a changed schema names the operations that send and return it."""
    lines = report(THINGS, replaced(THINGS, {f"{COLOR} enum 2": "green"}))
    assert lines[-1] == "  Color enum green (sent by create_thing; returned by create_thing): new: green"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, changed: Mapping[Any, Any]) -> None:
    """Compare the document with a changed one, by the command of the make target."""
    for name, document in (("before.yaml", THINGS), ("after.yaml", replaced(THINGS, changed))):
        (folder / name).write_text(json.dumps(document, indent=1), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["diff", str(folder / "before.yaml"), str(folder / "after.yaml")])
    diff.main()


def test_the_exit_status_is_1_after_a_breaking_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status is 1 after a breaking change, else 0, and an invalid document is an error with its line."""
    run(tmp_path, monkeypatch, {f"{SENT} properties tags": STRING})
    with pytest.raises(SystemExit, match=r"^1$"):
        run(tmp_path, monkeypatch, {f"{TOP} schema maximum": 50})
    assert re.findall(r"^Breaking: \d", capsys.readouterr().out, re.MULTILINE) == ["Breaking: 0", "Breaking: 1"]
    message = r"after\.yaml:\d+: components schemas Thing properties part: \$ref .* has no target"
    with pytest.raises(SystemExit, match=message):
        run(tmp_path, monkeypatch, {f"{THING} properties part": {"$ref": "#/components/schemas/Gone"}})


def test_a_base_may_be_a_git_revision() -> None:
    """A git revision means its `openapi.yaml`; the error for another argument names it."""
    with pytest.raises(SystemExit, match="no-such-base is neither a file nor a git revision"):
        load_document("no-such-base")
    if ended("git", "rev-parse", "HEAD", status=None).returncode != 0:
        pytest.skip("not a git checkout")
    assert load_document("HEAD")["openapi"] == load_document(str(SPECIFICATION))["openapi"]


def values(node: object, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield each value in a document with its keys."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in pairs:
        yield (*keys, key), inner
        yield from values(inner, (*keys, key))


def another(value: Any) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case list():
            return [*value, "another"]
        case dict():
            return {**value, "x-another": True}
    return f"{value}x"


def test_every_difference_is_found(specification: Document) -> None:
    """Each value of the document that is removed or replaced is a difference."""
    places = [*values(specification)]
    assert len(places) > 2_500
    for keys, value in places:
        for other in (GONE, another(value)):
            assert any(differences(specification, replaced(specification, {keys: other}))), keys
