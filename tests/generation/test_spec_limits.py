"""Limits of section 8 and the written forms of section 2."""

import re
from typing import Any

import pytest

# schema, field, limits
LIMITS: list[tuple[str, str, dict[str, int]]] = [
    ("Repository", "uri", {"minLength": 1, "maxLength": 2000}),
    ("Repository", "displayName", {"minLength": 1, "maxLength": 200}),
    ("RepositoryUpdate", "uri", {"minLength": 1, "maxLength": 2000}),
    ("RepositoryUpdate", "displayName", {"minLength": 1, "maxLength": 200}),
    ("StoredRepositoryOptions", "minimumLevel", {"minimum": 0, "maximum": 24}),
    ("StoredRepositoryOptions", "maximumLevel", {"minimum": 0, "maximum": 24}),
    ("Resource", "id", {"maxLength": 200}),
    ("Resource", "type", {"maxLength": 100}),
    ("Resource", "displayName", {"maxLength": 200}),
    ("ResourceCreate", "id", {"minLength": 1, "maxLength": 200}),
    ("ResourceCreate", "type", {"minLength": 1, "maxLength": 100}),
    ("ResourceCreate", "displayName", {"minLength": 1, "maxLength": 200}),
    ("SceneDataCreate", "objects", {"maxItems": 100}),
    ("View3dData", "ecefTransform", {"minItems": 16, "maxItems": 16}),
]
KEYWORDS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}


@pytest.mark.parametrize(("name", "field", "limits"), LIMITS)
def test_field_has_its_limits(schemas: dict[str, Any], name: str, field: str, limits: dict[str, int]) -> None:
    """A field has exactly its documented lengths, ranges and item limits."""
    assert _limits(schemas[name]["properties"][field]) == limits


def test_no_other_field_is_limited(schemas: dict[str, Any]) -> None:
    """No field has a limit that the service description does not state."""
    limited = {
        (name, field)
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        if _limits(described) or _limits(described.get("items", {}))
    }
    assert limited == {(name, field) for name, field, _ in LIMITS}


def test_scene_body_is_limited_to_four_and_a_half_mebibytes(operations: dict[str, Any]) -> None:
    """The body of create scene, and no other, is limited to 4.5 MiB, as a number and in words."""
    marked = {
        operation_id: operation["requestBody"]["x-max-body-bytes"]
        for operation_id, operation in operations.items()
        if "x-max-body-bytes" in operation.get("requestBody", {})
    }
    assert marked == {"create_scene": int(4.5 * 1024 * 1024)}
    assert "4.5 MiB, which is 4718592 bytes" in " ".join(
        operations["create_scene"]["requestBody"]["description"].split()
    )


def test_unknown_rate_limits_are_said_to_be_unknown(operations: dict[str, Any]) -> None:
    """The response to too many requests says that numeric rate limits are not shown."""
    words = " ".join(operations["list_itwins"]["responses"]["429"]["description"].split())
    assert "Numeric rate limits per tier: not documented" in words


@pytest.mark.parametrize(
    ("name", "field", "default"),
    [
        ("ITwin", "status", "Active"),
        ("ITwinSummary", "status", "Active"),
        ("ITwin", "dataCenterLocation", "East US"),
    ],
)
def test_field_states_its_default(schemas: dict[str, Any], name: str, field: str, default: str) -> None:
    """The default of a field is stated as a fact about the service, not as a value to send."""
    described = schemas[name]["properties"][field]
    assert described["x-default"] == default
    assert default in described["description"]


@pytest.mark.parametrize(
    ("name", "text", "matches"),
    [
        ("Uuid", "8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e11", True),
        ("Uuid", "8C0DB4F6-1B0A-4B6F-9D4E-2F0A5C3B7E11", True),
        ("Uuid", "6a2d2381-6c57-9332-387a-5b7c00000000", True),
        ("Uuid", "8c0db4f61b0a4b6f9d4e2f0a5c3b7e11", False),
        ("Uuid", "{8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e11}", False),
        ("Uuid", "8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e1g", False),
        ("Uuid", "", False),
        ("Semver", "1.0.0", True),
        ("Semver", "1.12.3-beta.1+build.5", True),
        ("Semver", "1.0", False),
        ("Semver", "v1.0.0", False),
        ("Semver", "01.0.0", False),
    ],
)
def test_string_form(schemas: dict[str, Any], name: str, text: str, matches: bool) -> None:
    """A Uuid is a UUID string of any version, and a Semver a semantic version."""
    assert schemas[name]["type"] == "string"
    assert "format" not in schemas[name]
    assert bool(re.search(schemas[name]["pattern"], text)) is matches


def test_date_time_is_iso_8601_in_milliseconds(schemas: dict[str, Any]) -> None:
    """A Date-time is a string of format date-time in the documented form."""
    assert (schemas["DateTime"]["type"], schemas["DateTime"]["format"]) == ("string", "date-time")
    assert "`YYYY-MM-DDTHH:mm:ss.sssZ`" in schemas["DateTime"]["description"]


def _limits(schema: dict[str, Any]) -> dict[str, int]:
    return {keyword: value for keyword, value in schema.items() if keyword in KEYWORDS}
