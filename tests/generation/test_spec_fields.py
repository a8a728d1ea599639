"""The fields of objects, each with its note."""

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
