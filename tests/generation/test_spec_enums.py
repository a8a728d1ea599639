"""Enums: each value under a readable member name."""

import re
from typing import Any

import pytest


def test_member_names_read_as_their_values(schemas: dict[str, Any]) -> None:
    """Each value has its own member name: the words of the value in upper case, joined by underscores."""
    enums = [schema for schema in schemas.values() if "enum" in schema]
    assert enums
    for values, member_names in ((schema["enum"], schema["x-enum-varnames"]) for schema in enums):
        assert len(member_names) == len(values) == len(set(member_names))
        for value, member_name in zip(values, member_names, strict=True):
            assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", member_name)
            assert member_name.replace("_", "") == re.sub(r"[^A-Z0-9]", "", str(value).upper())


@pytest.mark.parametrize(
    ("name", "value", "member_name"),
    [
        ("RepositoryClass", "GeographicInformationSystem", "GEOGRAPHIC_INFORMATION_SYSTEM"),
        ("RepositoryClass", "iModels", "IMODELS"),
        ("RepositorySubClass", "ArcGIS", "ARCGIS"),
        ("RepositorySubClass", "OgcApiFeatures", "OGC_API_FEATURES"),
        ("ITwinSubClass", "WorkPackage", "WORK_PACKAGE"),
        ("DataCenterLocation", "East US", "EAST_US"),
        ("QueryScope", "MemberOfiTwin", "MEMBER_OF_ITWIN"),
        ("WebhookScope", "iTwin", "ITWIN"),
        ("EventType", "iModels.iModelDeleted.v1", "IMODELS_IMODEL_DELETED_V1"),
        ("EventType", "iTwins.iTwinCreated.v1", "ITWINS_ITWIN_CREATED_V1"),
        ("ErrorCode", "HeaderNotFound", "HEADER_NOT_FOUND"),
        ("ErrorCode", "InvalidiTwinsRequest", "INVALID_ITWINS_REQUEST"),
        ("ErrorCode", "iTwinRepositoryNotFound", "ITWIN_REPOSITORY_NOT_FOUND"),
    ],
)
def test_member_name_is_split_into_words(schemas: dict[str, Any], name: str, value: str, member_name: str) -> None:
    """Product names stay one word in a member name; every other word stands alone."""
    position = schemas[name]["enum"].index(value)
    assert schemas[name]["x-enum-varnames"][position] == member_name


def test_query_scope_states_its_default(schemas: dict[str, Any]) -> None:
    """The scope that the service applies when none is sent is stated with the scopes."""
    assert schemas["QueryScope"]["x-default"] == "MemberOfiTwin"
