"""Limits and defaults in words, and the written forms of section 2."""

import re
from typing import Any

import pytest


def test_the_limit_of_a_body_is_stated_in_words(operations: dict[str, Any]) -> None:
    """The limit in bytes is a field that tools check; who reads the description finds it too."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    limited = [body for body in bodies if "x-max-body-bytes" in body]
    assert limited
    assert [body for body in limited if f"{body['x-max-body-bytes']} bytes" not in _words(body)] == []


def test_unknown_rate_limits_are_said_to_be_unknown(operations: dict[str, Any]) -> None:
    """The response to too many requests says that numeric rate limits are not shown."""
    words = " ".join(operations["list_itwins"]["responses"]["429"]["description"].split())
    assert "Numeric rate limits per tier: not documented" in words


def test_a_default_is_stated_in_words(operations: dict[str, Any], schemas: dict[str, Any]) -> None:
    """A default is a fact about the service, and no value to send: it is in the description beside it."""
    parameters = [
        (each["schema"].get("x-default"), _words(each))
        for operation in operations.values()
        for each in operation["parameters"].values()
    ]
    properties = [
        (each.get("x-default"), each.get("description", ""))
        for schema in schemas.values()
        for each in schema.get("properties", {}).values()
    ]
    stated = [(str(default), words) for default, words in (*parameters, *properties) if default is not None]
    assert stated
    assert [words for default, words in stated if default.lower() not in words.lower()] == []


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


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
