"""Every path, query and header parameter with its type, range and default, and the Accept version of each operation."""

from typing import Any

import pytest

from tools.generation.accept import accepted
from tools.generation.document import operations as operations_of

UUID = {"$ref": "#/components/schemas/Uuid"}
STRING = {"type": "string"}
FILLED = {"type": "string", "minLength": 1}

PATH_OF_REPOSITORY = {("path", "iTwinId"): (True, STRING), ("path", "repositoryId"): (True, STRING)}
CORRELATION = {("header", "x-correlation-id"): (False, STRING)}

# operationId: {(location, name): (required, schema)}, Accept omitted, which stands in ACCEPT_VERSIONS
PARAMETERS: dict[str, dict[tuple[str, str], tuple[bool, dict[str, Any]]]] = {
    "update_repository": PATH_OF_REPOSITORY,
    "create_repository_resource": PATH_OF_REPOSITORY,
    "list_itwins": {
        ("query", "subClass"): (
            False,
            {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/ITwinSubClass"}},
        ),
        ("query", "status"): (False, {"$ref": "#/components/schemas/ITwinStatus"}),
        ("query", "type"): (False, STRING),
        ("query", "number"): (False, STRING),
        ("query", "displayName"): (False, STRING),
        ("query", "parentId"): (False, FILLED),
        ("query", "iTwinAccountId"): (False, FILLED),
        ("query", "$search"): (False, STRING),
        ("query", "$select"): (False, {"type": "array", "minItems": 1, "items": FILLED}),
        ("query", "$filter"): (False, STRING),
        ("query", "$orderby"): (False, FILLED),
        ("query", "$top"): (False, {"type": "integer", "minimum": 1, "maximum": 1000, "x-default": 100}),
        ("query", "$skip"): (False, {"type": "integer", "minimum": 0, "x-default": 0}),
        ("query", "includeInactive"): (False, {"type": "boolean", "x-default": False}),
        ("header", "X-Max-Return"): (False, {"type": "integer", "minimum": 1, "maximum": 10000, "x-default": 1000}),
        ("header", "X-iTwin-Query-Scope"): (False, {"$ref": "#/components/schemas/QueryScope"}),
        ("header", "Prefer"): (False, {"$ref": "#/components/schemas/PreferredReturn"}),
    },
    "get_primary_account": {},
    "create_scene": {("query", "iTwinId"): (True, FILLED), **CORRELATION},
    "list_scene_objects": {
        ("path", "sceneId"): (True, UUID),
        ("query", "iTwinId"): (True, FILLED),
        ("query", "orderBy"): (False, {"type": "string", "x-default": "kind"}),
        ("query", "$skip"): (False, {"type": "integer", "minimum": 0, "x-default": 0}),
        ("query", "$top"): (False, {"type": "integer", "minimum": 1, "maximum": 100, "x-default": 100}),
        **CORRELATION,
    },
    "create_detector": {},
    "update_webhook": {("path", "webhookId"): (True, STRING)},
}

ACCEPT_VERSIONS = {
    "update_repository": 1,
    "create_repository_resource": 1,
    "list_itwins": 1,
    "get_primary_account": 1,
    "create_scene": 1,
    "list_scene_objects": 1,
    "create_detector": 2,
    "update_webhook": 2,
}

SIMPLE_PARAMETERS = ["status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search"]


@pytest.mark.parametrize("operation_id", PARAMETERS)
def test_operation_has_its_parameters(operations: dict[str, Any], operation_id: str) -> None:
    """An operation has its documented parameters, each with location, necessity, type, range and default."""
    found = {
        key: (parameter["required"], _undescribed(parameter["schema"]))
        for key, parameter in operations[operation_id]["parameters"].items()
    }
    assert {key: found.get(key) for key in PARAMETERS[operation_id]} == PARAMETERS[operation_id]


@pytest.mark.parametrize("operation_id", ACCEPT_VERSIONS)
def test_success_declares_the_vendor_media_type(operations: dict[str, Any], operation_id: str) -> None:
    """A success declares the vendor media type in the documented version, and plain JSON with the same content."""
    (success,) = (node for status, node in operations[operation_id]["responses"].items() if status.startswith("2"))
    vendor = f"application/vnd.vendor.itwin-platform.v{ACCEPT_VERSIONS[operation_id]}+json"
    assert list(success["content"]) == [vendor, "application/json"]
    assert success["content"][vendor] == success["content"]["application/json"]


@pytest.mark.parametrize("operation_id", ACCEPT_VERSIONS)
def test_operation_sends_accept_with_its_version(document: dict[str, Any], operation_id: str) -> None:
    """OpenAPI ignores a parameter called Accept, so the tools add it: with the media type that the success declares."""
    (operation,) = [node for _, _, node, _ in operations_of(document) if node["operationId"] == operation_id]
    version = f"itwin-platform.v{ACCEPT_VERSIONS[operation_id]}+json"
    assert accepted(document, operation) == f"application/vnd.{{vendor}}.{version}"


@pytest.mark.parametrize("name", ["subClass", "$select"])
def test_lists_are_comma_delimited(operations: dict[str, Any], name: str) -> None:
    """The lists of list iTwins are sent as one comma-delimited value."""
    parameter = operations["list_itwins"]["parameters"]["query", name]
    assert (parameter["style"], parameter["explode"]) == ("form", False)


@pytest.mark.parametrize("name", SIMPLE_PARAMETERS)
def test_simple_parameter_excludes_filter(operations: dict[str, Any], name: str) -> None:
    """A simple parameter and $filter each say that the two cannot be combined."""
    parameters = operations["list_itwins"]["parameters"]
    own = _words(parameters["query", name])
    assert "`$filter`" in own.partition("Cannot be combined with ")[2]
    assert f"`{name}`" in _words(parameters["query", "$filter"]).partition("Cannot be combined with ")[2]


@pytest.mark.parametrize(
    ("name", "excluded"),
    [
        *(("number", "$search"), ("displayName", "$search"), ("$search", "number"), ("$search", "displayName")),
        *(("includeInactive", "status"), ("status", "includeInactive")),
    ],
)
def test_exclusive_parameter_says_what_it_excludes(operations: dict[str, Any], name: str, excluded: str) -> None:
    """Of two parameters that exclude each other both say so."""
    words = _words(operations["list_itwins"]["parameters"]["query", name])
    assert f"`{excluded}`" in words.partition("Cannot be combined with ")[2]


def test_operation_lists_all_exclusions(operations: dict[str, Any]) -> None:
    """The description of list iTwins gathers every exclusion, and that $select overrides Prefer."""
    words = _words(operations["list_itwins"])
    expected = [
        "`$search` cannot be combined with `number` or `displayName`.",
        "`includeInactive` cannot be combined with `status`.",
        "`$filter` cannot be combined with "
        + ", ".join(f"`{name}`" for name in SIMPLE_PARAMETERS[:-1])
        + " or `$search`;",
        "only `subClass` may accompany it.",
        "When `$select` is given, the Prefer header is ignored.",
    ]
    assert [sentence for sentence in expected if sentence not in words] == []


def test_max_return_is_reported_from_page_size(operations: dict[str, Any]) -> None:
    """X-Max-Return is described as the cap of the listing, which is not a page size."""
    words = _words(operations["list_itwins"]["parameters"]["header", "X-Max-Return"])
    expected = ["across all pages", "Pages beyond the limit are empty", "Not the same as `$top` (page size)"]
    assert [phrase for phrase in expected if phrase not in words] == []


def _undescribed(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
