"""What a request gets that breaks a rule: `x-error`, `x-excludes`, `x-read-only`, and the words about them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.generation.test_spec_errors import ERRORS

TEXT = (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text(encoding="utf-8")
#: Fields beyond OpenAPI, as the comment at the top of the document lists them.
DOCUMENTED = set(re.findall(r"^# (x-[a-z-]+)  ", TEXT, re.MULTILINE))


def test_every_field_beyond_openapi_is_explained(document: dict[str, Any]) -> None:
    """The comment at the top explains exactly the fields that the document has."""
    assert {key for node in _nodes(document) for key in node if str(key).startswith("x-")} - _HEADERS == DOCUMENTED


@pytest.mark.parametrize("operation_id", ERRORS)
def test_an_invalid_request_gets_a_documented_error(operations: dict[str, Any], operation_id: str) -> None:
    """The error of an operation for an invalid request is one of its responses, and its details are documented."""
    operation = operations[operation_id]
    error = operation.get("x-error")
    if operation_id == "get_primary_account":
        assert error is None
        return
    code, details = ERRORS[operation_id][str(error["status"])]
    assert error["code"] == code
    assert error.get("inferred") is (True if operation_id == "list_scene_objects" else None)
    assert error.get("prefix", "") == ("detector." if operation_id == "create_detector" else "")
    named = {detail for detail, _ in details}
    assert error["detail"] in named or (error.get("inferred") and error["detail"] == "InvalidValue")


@pytest.mark.parametrize("operation_id", ERRORS)
def test_every_documented_detail_belongs_to_a_rule(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str
) -> None:
    """The rules give the details of section 7 and no other; the property of a filter is no rule of the document."""
    operation = operations[operation_id]
    error = operation.get("x-error")
    if error is None or error.get("inferred"):
        return
    given = set[tuple[str, str | None]]()
    for place, own in _rules(document, operation):
        target = (own or {}).get("target")
        given |= {(code, target) for key, code in (own or {}).items() if key != "target"}
        if target is not None:
            name = place.rpartition(" ")[2].rpartition(".")[2].lower()
            assert target.rpartition(".")[2].lower() in (name, "x-itwin-create-scope")
    assert given == ERRORS[operation_id][str(error["status"])][1] - {("InvalidValue", "$filter")}


def test_a_body_that_is_too_large_has_its_own_error(operations: dict[str, Any]) -> None:
    """The limit in bytes is the one rule with another status."""
    body = operations["create_scene"]["requestBody"]
    assert body["x-error"] == {"status": 413, "code": ERRORS["create_scene"]["413"][0]}


def test_read_only_properties_are_named_where_they_must_not_be_sent(schemas: dict[str, Any]) -> None:
    """They are properties of the response, and no property of the body."""
    found = {name: schema["x-read-only"] for name, schema in schemas.items() if "x-read-only" in schema}
    assert found
    for body, names in found.items():
        response = schemas[body.removesuffix("Update")]["properties"]
        assert set(names) == response.keys() - schemas[body]["properties"].keys()


@pytest.mark.parametrize("name", ["SceneObject", "SceneObjectMinimal", "SceneObjectCreate"])
def test_the_data_of_a_scene_object_is_of_its_kind(schemas: dict[str, Any], name: str) -> None:
    """The kinds with a documented structure name its schema; any other object is accepted."""
    data = schemas[name]["properties"]["data"]
    assert data == {"$ref": "#/components/schemas/SceneObjectData"}
    assert list(schemas["SceneObjectData"]["x-kinds"]) == schemas["SceneObjectKind"]["enum"]
    assert set(schemas["SceneObjectData"]["x-kinds"].values()) <= set(schemas)


def test_a_sub_class_may_be_empty(schemas: dict[str, Any]) -> None:
    """The string of a resource's subclass names its enum, so that no client makes a type that contains itself."""
    node = schemas["Resource"]["properties"]["subClass"]
    assert (node["type"], node["x-values"]) == (["string", "null"], "ResourceSubClass")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("info", "Every operation requires the header Accept"),
        ("info", "Inferred: a property that is `required` in a response"),
        ("info", "may also come as `application/json`"),
        ("schemas SceneObjectCreate", "Inferred: `version`, `kind` and `data` are required"),
        ("schemas PagingLinks", "Inferred: `self` is always there"),
        ("schemas Uuid", "Inferred: the pattern"),
        ("parameters SceneIdPath", "Inferred: a UUID"),
    ],
)
def test_what_is_inferred_is_marked(document: dict[str, Any], place: str, words: str) -> None:
    """What the service description does not state is told apart from what it states."""
    kind, _, name = place.partition(" ")
    node = document["components"][kind][name] if name else document[kind]
    assert words in " ".join(node["description"].split())


def test_the_description_of_the_whole_is_short(document: dict[str, Any]) -> None:
    """Other generators copy it into every file."""
    assert len(document["info"]["description"]) < 1000


_HEADERS = {"x-max-return", "x-correlation-id"}


def _rules(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    for (place, name), parameter in operation["parameters"].items():
        yield f"{place} {name}", parameter.get("x-error")
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield from _properties(document, media["schema"], "")


def _properties(document: dict[str, Any], schema: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    yield place, schema.get("x-error")
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "x-error" in schema:
            yield place, schema["x-error"]
    for inner in schema.get("oneOf", ()):
        yield from _properties(document, inner, place)
    for name, inner in schema.get("properties", {}).items():
        yield from _properties(document, inner, f"{place}.{name}" if place else name)
    if "items" in schema:
        yield from _properties(document, schema["items"], f"{place}[]")


def _nodes(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from _nodes(child)
    elif isinstance(node, list):
        for child in node:
            yield from _nodes(child)
