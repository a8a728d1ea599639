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

InvalidValue, Missing = "InvalidValue", "MissingRequiredProperty"
# operationId: {where: (code, target, further codes)}; the place of a property leads through the schemas of the body.
RULES: dict[str, dict[str, tuple[str | None, str | None, dict[str, str]]]] = {
    "update_repository": {
        "displayName": (InvalidValue, "displayName", {}),
        "uri": (InvalidValue, "uri", {}),
        "authentication.key": (InvalidValue, "key", {}),
        "authentication.value": (InvalidValue, "value", {}),
        "authentication.username": (InvalidValue, "username", {}),
        "authentication.password": (InvalidValue, "password", {}),
        "options": (InvalidValue, "options", {}),
        "options.minimumLevel": (InvalidValue, "minimumlevel", {}),
        "options.maximumLevel": (InvalidValue, "maximumlevel", {}),
    },
    "create_repository_resource": {
        name: (InvalidValue, name, {"missing": Missing}) for name in ("id", "type", "displayName")
    },
    "list_itwins": {
        "query subClass": (InvalidValue, "subClass", {}),
        "query status": (InvalidValue, "status", {}),
        "query $search": (None, "$search", {"excludes": "InvalidParameter"}),
        "query $select": (InvalidValue, "$select", {}),
        "query $filter": (None, "$filter", {"excludes": "InvalidParameter"}),
        "query $orderby": (InvalidValue, "$orderby", {}),
        "query $top": (InvalidValue, "$top", {}),
        "query $skip": (InvalidValue, "$skip", {}),
        "query includeInactive": (None, "includeInactive", {"excludes": "InvalidParameter"}),
        "header X-Max-Return": ("InvalidHeaderValue", "X-Max-Return", {}),
    },
    "get_primary_account": {},
    "create_scene": {"parentId": ("InvalidRequestBody", "parentId", {})},
    "list_scene_objects": {},
    "create_detector": {"type": (InvalidValue, "detector.type", {})},
    "update_webhook": {"": ("InvalidRequestBody", None, {})},
}
EXCLUDES = {
    "$search": ["number", "displayName"],
    "$filter": ["status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search"],
    "includeInactive": ["status"],
}


def test_every_field_beyond_openapi_is_explained(document: dict[str, Any]) -> None:
    """The comment at the top explains exactly the fields that the document has."""
    assert {key for node in _nodes(document) for key in node if str(key).startswith("x-")} - _HEADERS == DOCUMENTED


@pytest.mark.parametrize("operation_id", RULES)
def test_a_broken_rule_has_its_documented_error(
    document: dict[str, Any], operations: dict[str, Any], operation_id: str
) -> None:
    """Each rule has the code and target of section 7, and no other rule has any."""
    found = {place: error for place, error in _rules(document, operations[operation_id]) if error is not None}
    codes = {
        place: (
            error.get("code"),
            error.get("target"),
            {key: error[key] for key in error if key not in ("code", "target")},
        )
        for place, error in found.items()
    }
    assert codes == RULES[operation_id]


@pytest.mark.parametrize("operation_id", RULES)
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
    assert error["detail"] in named or (error.get("inferred") and error["detail"] == InvalidValue)


@pytest.mark.parametrize("operation_id", RULES)
def test_every_documented_detail_belongs_to_a_rule(operations: dict[str, Any], operation_id: str) -> None:
    """The details of section 7 that a rule can give stand at a rule; the others have no rule in the document."""
    error = operations[operation_id].get("x-error")
    if error is None or error.get("inferred"):
        return
    given = {
        (code, target)
        for own, target, others in RULES[operation_id].values()
        for code in (own, *others.values())
        if code
    }
    statements = {("InvalidValue", "$filter"), ("InvalidHeaderValue", "X-iTwin-Create-Scope")}
    assert ERRORS[operation_id][str(error["status"])][1] - statements == given


def test_a_body_that_is_too_large_has_its_own_error(operations: dict[str, Any]) -> None:
    """The limit in bytes is the one rule with another status."""
    body = operations["create_scene"]["requestBody"]
    assert body["x-error"] == {"status": 413, "code": ERRORS["create_scene"]["413"][0]}


def test_parameters_exclude_each_other(operations: dict[str, Any]) -> None:
    """The exclusions of section 4.3, and no other."""
    found = {
        parameter["name"]: parameter["x-excludes"]
        for operation in operations.values()
        for parameter in operation["parameters"].values()
        if "x-excludes" in parameter
    }
    assert found == EXCLUDES


def test_read_only_properties_are_named_where_they_must_not_be_sent(schemas: dict[str, Any]) -> None:
    """They are properties of the response, and no property of the body."""
    found = {name: schema["x-read-only"] for name, schema in schemas.items() if "x-read-only" in schema}
    assert found == {
        "RepositoryUpdate": ["id", "class", "subClass", "capabilities"],
        "WebhookUpdate": ["id", "scope", "scopeId", "created", "modified"],
    }
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
