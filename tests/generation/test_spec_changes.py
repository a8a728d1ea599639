"""Which changes of a specification break a client or its user, and how they are reported: one table."""

from collections.abc import Callable

import pytest

from tests.support.small_specification import Node, small_document
from tools.spec.changes import changes


def _operation(document: Node) -> Node:
    return document["paths"]["/things"]["post"]  # type: ignore[no-any-return]


def _sent(document: Node) -> Node:
    return document["components"]["schemas"]["ThingCreate"]  # type: ignore[no-any-return]


def _returned(document: Node) -> Node:
    return document["components"]["schemas"]["Thing"]  # type: ignore[no-any-return]


def _error(document: Node) -> Node:
    shown = _operation(document)["responses"]["409"]["content"]["application/json"]
    return shown["examples"]["exists"]["value"]["error"]  # type: ignore[no-any-return]


def _number(values: Node) -> None:
    values["properties"]["id"] = {"type": "integer"}


PARAMETER = {"name": "tag", "in": "query", "schema": {"type": "string"}}

# What is done to the document; where it is reported; what is reported; whether it breaks.
CASES: list[tuple[Callable[[Node], object], str, str, bool]] = [
    (lambda d: d["paths"].clear(), "create_thing", "is gone (POST /things)", True),
    (
        lambda d: _operation(d).update(operationId="make_thing"),
        "create_thing",
        "is make_thing now, was create_thing",
        True,
    ),
    (
        lambda d: d["paths"].update({"/thing": d["paths"].pop("/things")}),
        *("create_thing", "is POST /thing now, was POST /things", True),
    ),
    (
        lambda d: _operation(d).update(tags=["all"]),
        *("create_thing, tags", "is ['all'] now, was ['things']", True),
    ),
    (
        lambda d: d["paths"].update({"/more": {"get": {"operationId": "more", "responses": {}}}}),
        *("more", "new operation: GET /more", False),
    ),
    (
        lambda d: _operation(d).update({"x-technical-preview": True}),
        *("create_thing", "is Technical Preview now and may change", False),
    ),
    (lambda d: _operation(d)["parameters"].pop(0), "create_thing, query $top", "is gone", True),
    (
        lambda d: _operation(d)["parameters"].append(PARAMETER),
        *("create_thing, query tag", "new, optional", False),
    ),
    (
        lambda d: _operation(d)["parameters"].append({**PARAMETER, "required": True}),
        *("create_thing, query tag", "new, required", True),
    ),
    (
        lambda d: _operation(d)["parameters"][0].update(required=True),
        *("create_thing, query $top", "is required now", True),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].update(maximum=50),
        *("create_thing, query $top", "at most 50 now, was at most 100", True),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].update(maximum=500),
        *("create_thing, query $top", "at most 500 now, was at most 100", False),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].update(minimum=1),
        *("create_thing, query $top", "at least 1 now", True),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].update(exclusiveMinimum=1),
        *("create_thing, query $top", "more than 1 now", True),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].pop("maximum"),
        *("create_thing, query $top", "no longer at most 100", False),
    ),
    (
        lambda d: _operation(d)["parameters"][0]["schema"].update({"x-default": 20}),
        *("create_thing, query $top", "the default is 20 now, was 10", False),
    ),
    (
        lambda d: _operation(d)["requestBody"].update({"x-max-body-bytes": 10}),
        *("create_thing, requestBody", "at most 10 bytes now, was at most 1000 bytes", True),
    ),
    (lambda d: _sent(d)["required"].append("note"), "ThingCreate.note", "is required now", True),
    (lambda d: _returned(d)["required"].append("note"), "Thing.note", "is required now", False),
    (lambda d: _sent(d)["required"].remove("id"), "ThingCreate.id", "is optional now", False),
    (lambda d: _returned(d)["required"].remove("id"), "Thing.id", "is optional now", True),
    (lambda d: _sent(d)["properties"].pop("note"), "ThingCreate.note", "is gone", True),
    (lambda d: _returned(d)["properties"].pop("note"), "Thing.note", "is gone", True),
    (
        lambda d: _returned(d)["properties"].update(extra={"type": "boolean"}),
        *("Thing.extra", "new, optional", False),
    ),
    (lambda d: _number(_sent(d)), "ThingCreate.id", "may no longer be string", True),
    (
        lambda d: _sent(d)["properties"].update(note={"type": "string"}),
        *("ThingCreate.note", "may no longer be null", True),
    ),
    (
        lambda d: _returned(d)["properties"].update(note={"type": "string"}),
        *("Thing.note", "may no longer be null", False),
    ),
    (
        lambda d: _returned(d)["properties"].update(id={"type": ["string", "integer"], "maxLength": 10}),
        *("Thing.id", "may be integer now", True),
    ),
    (
        lambda d: _sent(d)["properties"].update(id={"type": ["string", "integer"], "maxLength": 10}),
        *("ThingCreate.id", "may be integer now", False),
    ),
    (
        lambda d: _returned(d)["properties"]["made"].pop("format"),
        "Thing.made",
        "no longer in the format date-time",
        True,
    ),
    (
        lambda d: _sent(d)["properties"]["parts"].update(maxItems=3),
        *("ThingCreate.parts", "at most 3 items now, was at most 5 items", True),
    ),
    (
        lambda d: _returned(d)["properties"]["parts"].update(maxItems=3),
        *("Thing.parts", "at most 3 items now, was at most 5 items", False),
    ),
    (lambda d: d["components"]["schemas"]["Color"]["enum"].append("green"), "Color", "new value green", False),
    (
        lambda d: _sent(d)["properties"]["id"].update(enum=["one", "two"]),
        *("ThingCreate.id", "only one of one, two now, was any", True),
    ),
    (
        lambda d: d["components"]["schemas"]["Color"].update({"x-enum-varnames": ["RED", "NAVY"]}),
        *("Color", "the member of blue is called NAVY now, was BLUE", True),
    ),
    (
        lambda d: d["components"]["schemas"]["Color"]["enum"].remove("red"),
        *("Color", "value red is gone", True),
    ),
    (
        lambda d: _operation(d)["responses"].update({"200": _operation(d)["responses"].pop("201")}),
        *("create_thing, responses 201", "is no longer given", True),
    ),
    (
        lambda d: _operation(d)["responses"]["201"]["headers"].clear(),
        *("create_thing, responses 201 headers X-Count", "is gone", True),
    ),
    (
        lambda d: _error(d).update(code="ThingTaken"),
        "create_thing, responses 409 application/json examples exists value error code",
        "is ThingTaken now, was ThingExists: code that waits for it never runs",
        True,
    ),
    (
        lambda d: _operation(d)["responses"].update({"400": _operation(d)["responses"].pop("409")}),
        *("create_thing, responses 409", "is no longer given", True),
    ),
    (
        lambda d: (
            _operation(d)
            .setdefault("parameters", [])
            .append({"name": "shape", "in": "query", "content": {"application/json": {"schema": {"type": "string"}}}})
        ),
        *("create_thing, query shape", "new, optional", False),
    ),
]


@pytest.mark.parametrize(("change", "place", "text", "breaking"), CASES)
def test_change_is_reported(change: Callable[[Node], object], place: str, text: str, breaking: bool) -> None:
    """A change is reported with its location, in words, as breaking or not."""
    document = small_document()
    change(document)
    found = {(each.place.partition(" (")[0], each.text): each for each in changes(small_document(), document)}
    assert (place, text) in found, found.keys()
    assert found[place, text].breaking is breaking
    assert found[place, text].known


def test_no_change_is_reported_of_the_same_document() -> None:
    """Two readings of one document differ in nothing."""
    assert changes(small_document(), small_document()) == []


def test_other_words_are_reported_by_their_place() -> None:
    """A description that changed is named: a rule may stand there that no schema says."""
    document = small_document()
    _operation(document)["description"] = "Creates, once a day."
    _sent(document)["properties"]["id"]["description"] = "Not empty."
    found = [each.place for each in changes(small_document(), document) if each.prose]
    assert found == ["ThingCreate.id.description (sent by create_thing)", "create_thing, description"]
