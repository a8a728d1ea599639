"""`make spec-diff`: every difference has a line, breaking changes come first, and the status tells of them."""

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.examples import examples
from tests.support.processes import ended
from tests.support.specification import Document
from tools.generation.document import SPECIFICATION, load_document
from tools.spec import diff
from tools.spec.changes import changes
from tools.spec.diff import report
from tools.spec.differences import differences
from tools.spec.packages import compared

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
        parts: {type: array, maxItems: 5, items: {type: string}}
    ThingCreate: *thing
    Color: {type: string, enum: [red, blue], x-enum-varnames: [RED, BLUE]}
    ThingId: {type: string, maxLength: 10}
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
SHAPE = {"name": "shape", "in": "query", "content": {"application/json": {"schema": {"type": "string"}}}}
STRING, EITHER = {"type": "string"}, {"type": ["string", "integer"], "maxLength": 10}
BREAKS, HARMLESS = True, False
# A place in the document, its new value, the reported place, the reported text, and whether the change is breaking.
CASES: list[tuple[str, Any, str, str, bool]] = [
    ("paths", {}, "create_thing", "is gone (POST /things)", BREAKS),
    ("paths", {"/t": THINGS["paths"]["/things"]}, "create_thing", "is POST /t now, was POST /things", BREAKS),
    ("paths /more", {"get": {"operationId": "more", "responses": {}}}, "more", "new operation: GET /more", HARMLESS),
    (f"{POST} operationId", "make_thing", "create_thing", "is make_thing now, was create_thing", BREAKS),
    (f"{POST} tags", ["all"], "create_thing, tags", "is ['all'] now, was ['things']", BREAKS),
    (f"{POST} x-technical-preview", True, "create_thing", "is Technical Preview now and may change", HARMLESS),
    (TOP, GONE, "create_thing, query $top", "is gone", BREAKS),
    (f"{POST} parameters 1", TAG, "create_thing, query tag", "new, optional", HARMLESS),
    (f"{POST} parameters 1", {**TAG, "required": True}, "create_thing, query tag", "new, required", BREAKS),
    (f"{POST} parameters 1", SHAPE, "create_thing, query shape", "new, optional", HARMLESS),
    (f"{TOP} required", True, "create_thing, query $top", "is required now", BREAKS),
    (f"{TOP} schema maximum", 50, "create_thing, query $top", "at most 50 now, was at most 100", BREAKS),
    (f"{TOP} schema maximum", 500, "create_thing, query $top", "at most 500 now, was at most 100", HARMLESS),
    (f"{TOP} schema maximum", GONE, "create_thing, query $top", "no longer at most 100", HARMLESS),
    (f"{TOP} schema minimum", 1, "create_thing, query $top", "at least 1 now", BREAKS),
    (f"{TOP} schema exclusiveMinimum", 1, "create_thing, query $top", "more than 1 now", BREAKS),
    (f"{TOP} schema x-default", 20, "create_thing, query $top", "the default is 20 now, was 10", HARMLESS),
    (
        *(f"{POST} requestBody x-max-body-bytes", 10, "create_thing, requestBody"),
        *("at most 10 bytes now, was at most 1000 bytes", BREAKS),
    ),
    (f"{SENT} required", ["id", "color", "note"], "ThingCreate.note", "is required now", BREAKS),
    (f"{THING} required", ["id", "color", "note"], "Thing.note", "is required now", HARMLESS),
    (f"{SENT} required", ["color"], "ThingCreate.id", "is optional now", HARMLESS),
    (f"{THING} required", ["color"], "Thing.id", "is optional now", BREAKS),
    (f"{SENT} properties note", GONE, "ThingCreate.note", "is gone", BREAKS),
    (f"{THING} properties note", GONE, "Thing.note", "is gone", BREAKS),
    (f"{THING} properties extra", {"type": "boolean"}, "Thing.extra", "new, optional", HARMLESS),
    (f"{SENT} properties id", {"type": "integer"}, "ThingCreate.id", "may no longer be string", BREAKS),
    (f"{SENT} properties note", STRING, "ThingCreate.note", "may no longer be null", BREAKS),
    (f"{THING} properties note", STRING, "Thing.note", "may no longer be null", HARMLESS),
    (f"{THING} properties id", EITHER, "Thing.id", "may be integer now", BREAKS),
    (f"{SENT} properties id", EITHER, "ThingCreate.id", "may be integer now", HARMLESS),
    (f"{THING} properties made format", GONE, "Thing.made", "no longer in the format date-time", BREAKS),
    (f"{SENT} properties parts maxItems", 3, "ThingCreate.parts", "at most 3 items now, was at most 5 items", BREAKS),
    (f"{THING} properties parts maxItems", 3, "Thing.parts", "at most 3 items now, was at most 5 items", HARMLESS),
    (f"{SENT} properties id enum", ["one", "two"], "ThingCreate.id", "only one of one, two now, was any", BREAKS),
    (f"{COLOR} enum 2", "green", "Color", "new value green", HARMLESS),
    (f"{COLOR} enum", ["blue"], "Color", "value red is gone", BREAKS),
    (f"{COLOR} x-enum-varnames 1", "NAVY", "Color", "the member of blue is called NAVY now, was BLUE", BREAKS),
    (f"{POST} responses 201", GONE, "create_thing, responses 201", "is no longer given", BREAKS),
    (f"{POST} responses 409", GONE, "create_thing, responses 409", "is no longer given", BREAKS),
    (f"{POST} responses 201 headers", {}, "create_thing, responses 201 headers X-Count", "is gone", BREAKS),
    (
        *(f"{ERROR} code", "ThingTaken"),
        "create_thing, responses 409 application/json examples exists value error code",
        *("is ThingTaken now, was ThingExists: code that waits for it never runs", BREAKS),
    ),
]


@pytest.mark.parametrize(("changed", "value", "place", "text", "breaking"), CASES)
def test_a_change_is_reported(changed: str, value: object, place: str, text: str, breaking: bool) -> None:
    """A change has a line with its place, below the heading for breaking changes or the one for others."""
    found = changes(THINGS, replaced(THINGS, {changed: value}))
    headings = [each.heading for each in found if (each.place.partition(" (")[0], each.text) == (place, text)]
    assert headings == ["Breaking" if breaking else "Not breaking"], found


# A place in the document, its new value, and the printed line.
UNKNOWN: list[tuple[str, Any, str]] = [
    (f"{POST} security 0 bearer", ["other"], "create_thing, security 0 bearer: is ['other'] now, was []"),
    (f"{POST} deprecated", True, "create_thing, deprecated: new: True"),
    ("servers 0 url", "/v3", "servers 0 url: is /v3 now, was /"),
    ("components securitySchemes bearer scheme", "basic", "securitySchemes bearer scheme: is basic now, was bearer"),
    (f"{TOP} explode", True, "create_thing, query $top explode: new: True"),
    (
        f"{POST} responses 201 headers X-Count style",
        "other",
        "create_thing, responses 201 headers X-Count style: new: other",
    ),
    (f"{THING} additionalProperties", False, "Thing.additionalProperties (returned by create_thing): new: False"),
    (f"{POST} responses 201 content text/csv", {}, "create_thing, responses 201 text/csv: new: {}"),
    (
        *(f"{THING} properties", dict(reversed(THINGS["components"]["schemas"]["Thing"]["properties"].items()))),
        " Thing (returned by create_thing): is in another order now",
    ),
    ("info title", "Another", "info title"),
    (f"{POST} description", "Creates, once a day.", "create_thing, description"),
    (f"{POST} responses 409 description", "Twice.", "create_thing, responses 409 description"),
    (f"{SENT} properties id description", "Not empty.", "ThingCreate.id.description (sent by create_thing)"),
]


@pytest.mark.parametrize(("changed", "value", "line"), UNKNOWN)
def test_a_difference_that_no_rule_knows_is_reported_by_its_place(changed: str, value: object, line: str) -> None:
    """A change of security, deprecation, servers, media types, order or descriptions has a line with its place."""
    assert report(THINGS, replaced(THINGS, {changed: value}))[-1].endswith(line)


ONE_BREAKING = {
    f"{TOP} schema maximum": 50,
    f"{COLOR} enum 2": "green",
    f"{SENT} properties tags": {"type": "array", "items": {"type": "string"}},
}


def test_changes_are_reported_by_operation_and_model() -> None:
    """Breaking changes come first, and a model names the operations that send and return it.

    A breakage of the package has a line too, unless its operation or model has one already.
    """
    assert report(THINGS, THINGS) == ["Breaking: 0", "Not breaking: 0"]
    assert report(THINGS, replaced(THINGS, ONE_BREAKING)) == [
        "Breaking: 1",
        "  create_thing, query $top: at most 50 now, was at most 100",
        "Not breaking: 2",
        "  Color (sent by create_thing; returned by create_thing): new value green",
        "  ThingCreate.tags (sent by create_thing): new, optional",
    ]
    broken = [(name, "", "is gone") for name in ("create", "create_thing")]
    breaking, limit, gone, *_ = report(THINGS, replaced(THINGS, ONE_BREAKING), None, broken)
    assert (breaking, gone) == ("Breaking: 2", "  create: is gone")
    assert limit.startswith("  create_thing, ")


NO_COLOR = {f"{THING} properties color": GONE, f"{SENT} properties color": GONE}


@pytest.mark.parametrize(
    ("changed", "breaking", "harmless"),
    [
        ({f"{THING} properties id": {"$ref": "#/components/schemas/ThingId"}}, 0, 3),
        ({f"{THING} properties id format": "uri"}, 0, 1),
        ({f"{THING} properties id format": "uuid"}, 1, 0),
        ({f"{THING} title": "The thing"}, 0, 0),
        (NO_COLOR, 3, 0),  # two fields, and ColorParam
        ({**NO_COLOR, COLOR: GONE}, 4, 0),
    ],
    ids=["reference", "uri", "uuid", "title", "class unused", "class gone"],
)
def test_a_change_that_the_generated_package_does_not_show_is_not_breaking(
    changed: Mapping[Any, Any], breaking: int, harmless: int
) -> None:
    """Another spelling, or a class that is still generated, is not breaking; a class that the package loses is."""
    after = replaced(THINGS, changed)
    found = report(THINGS, after, *compared(THINGS, after))
    counts = [line for line in found if line.startswith(("Breaking", "Not"))]
    assert counts == [f"Breaking: {breaking}", f"Not breaking: {harmless}"], found


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, changed: Mapping[Any, Any]) -> None:
    """Compare the document with a changed one, by the command of the make target."""
    for name, document in (("before.yaml", THINGS), ("after.yaml", replaced(THINGS, changed))):
        (folder / name).write_text(json.dumps(document, indent=1), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["diff", str(folder / "before.yaml"), str(folder / "after.yaml")])
    diff.main()


def test_the_exit_status_is_1_after_a_breaking_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a breaking change the status is 0, and an invalid document is an error with its line."""
    run(tmp_path, monkeypatch, {f"{SENT} properties tags": STRING})
    with pytest.raises(SystemExit, match=r"^1$"):
        run(tmp_path, monkeypatch, ONE_BREAKING)
    assert re.findall(r"^Breaking: \d", capsys.readouterr().out, re.MULTILINE) == ["Breaking: 0", "Breaking: 1"]
    message = r"after\.yaml:\d+: components schemas Thing properties part: \$ref .* leads nowhere"
    with pytest.raises(SystemExit, match=message):
        run(tmp_path, monkeypatch, {f"{THING} properties part": {"$ref": "#/components/schemas/Gone"}})


def test_a_base_may_be_a_git_revision() -> None:
    """A git revision means its `openapi.yaml`; the error for another argument names it."""
    with pytest.raises(SystemExit, match="no-such-base is neither a file nor a git revision"):
        load_document("no-such-base")
    if ended("git", "rev-parse", "HEAD", status=None).returncode != 0:
        pytest.skip("not a git checkout")
    assert load_document("HEAD")["openapi"] == load_document(str(SPECIFICATION))["openapi"]


#: Objects whose keys are names, and not keywords of OpenAPI.
NAMED = ("paths", "schemas", "properties", "parameters", "responses", "headers", "content", "examples", "value")


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


def kind_of(keys: Keys) -> Keys:
    """Return the last keywords of a place, without names: one rule applies to all places of a kind."""
    kept = ["*" if type(key) is int or before in NAMED else key for before, key in pairwise(("", *keys))]
    return tuple(kept[-3:])


def test_every_difference_is_found(specification: Document) -> None:
    """Each value of the document that is removed or replaced is a difference."""
    places = [*values(specification)]
    assert len(places) > 2_500
    for keys, value in places:
        for other in (GONE, another(value)):
            assert any(differences(specification, replaced(specification, {keys: other}))), keys


def drawn(choose: random.Random) -> tuple[Keys, Any]:
    """Draw a place in the document with its value, of each kind equally often."""
    kinds: dict[Keys, list[tuple[Keys, Any]]] = {}
    for keys, value in values(THINGS):
        kinds.setdefault(kind_of(keys), []).append((keys, value))
    return choose.choice(choose.choice([*kinds.values()]))


def said(changed: Mapping[Any, Any]) -> set[str]:
    """Return the lines of changes, without the operations that send or return a model: a change may rename them."""
    lines = [line for line in report(THINGS, replaced(THINGS, changed)) if line.startswith("  ")]
    return {re.sub(r" \((sent|returned) by .*?\):", ":", line) for line in lines}


@pytest.mark.parametrize("seed", range(examples(40)))
def test_any_two_mutations_give_their_lines(seed: int) -> None:
    """Two changes anywhere in a document have the lines of each single change."""
    choose = random.Random(seed)  # noqa: S311  # a test's choice
    (one, value), (other, second) = drawn(choose), drawn(choose)
    if one[: len(other)] == other or other[: len(one)] == one:
        other, second = ("info", "title"), "Things"
    changed = {keys: GONE if seed % 2 == 0 else another(old) for keys, old in ((one, value), (other, second))}
    try:
        both, *alone = (said(each) for each in (changed, *({keys: new} for keys, new in changed.items())))
    except (KeyError, TypeError, AttributeError):
        return  # the document is an error, which is not silent
    for expected in alone:
        assert expected, changed
        assert expected <= both, changed
