"""The schemas: notes on fields, limits and defaults in words, written forms, and the names of values. Section 2."""

import re
from typing import Any

import pytest

# Their names or schemas say what these hold: the field tables have no note on them.
WITHOUT_NOTE: dict[str, set[str]] = {
    "Repository": {"capabilities"},
    "StoredHeaderAuthentication": {"key", "value"},
    "StoredQueryParameterAuthentication": {"key", "value"},
    "StoredBasicAuthentication": {"username", "password"},
    "Resource": {"capabilities"},
    "ITwinSummary": {"class", "subClass"},
    "ITwin": {"class", "subClass", "latitude", "longitude", "createdDateTime", "lastModifiedDateTime"},
    "ITwinsResponse": {"iTwins", "_links"},
    "Scene": {"creationTime", "lastModified"},
    "SceneCreate": {"displayName"},
    "SceneData": {"objects"},
    "SceneDataCreate": {"objects"},
    "SceneObject": {"data"},
    "SceneObjectMinimal": {"data"},
    "SceneObjectCreate": {"data"},
    "SceneObjectsResponse": {"objects", "sceneContext"},
    "View3dData": {"aspectRatio"},
    "Vector3d": {"x", "y", "z"},
    "DetectorCreate": {"name", "type"},
    "PagingLinks": {"self"},
    "PagingLink": {"href"},
    "ErrorBody": {"message", "target"},
    "ErrorDetail": {"message", "target"},
    "RepositoryResponse": {"repository"},
    "ResourceResponse": {"resource"},
    "PrimaryAccountResponse": {"iTwin"},
    "SceneResponse": {"scene"},
    "DetectorResponse": {"detector"},
    "ErrorResponse": {"error"},
}

FREE_OBJECTS = {"QueryParameters", "SceneObjectData"}


def test_field_carries_its_note(schemas: dict[str, Any]) -> None:
    """A field has a description, unless its name or its schema says all."""
    for name, schema in schemas.items():
        properties = schema.get("properties", {})
        assert set(schema.get("required", ())) <= properties.keys()
        bare = {field for field, described in properties.items() if not described.get("description")}
        assert bare <= WITHOUT_NOTE.get(name, set()), name


@pytest.mark.parametrize("name", sorted(FREE_OBJECTS))
def test_free_object_takes_anything(schemas: dict[str, Any], name: str) -> None:
    """An object whose content is not shown, or depends on something else, takes any property."""
    assert schemas[name]["additionalProperties"] is True
    assert "properties" not in schemas[name]


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


def test_the_limit_of_a_body_is_stated_in_words(operations: dict[str, Any]) -> None:
    """The limit in bytes is a field that tools check; who reads the description finds it too."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    limited = [body for body in bodies if "x-max-body-bytes" in body]
    assert limited
    assert [body for body in limited if f"{body['x-max-body-bytes']} bytes" not in _words(body)] == []


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


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
