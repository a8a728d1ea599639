"""Field tables: each schema has the fields of the service description, with type, nullability and necessity."""

from typing import Any

import pytest

SUMMARY = {
    "id": "String", "class": "ITwinClass", "subClass": "ITwinSubClass", "type": "String, null", "number": "String",
    "displayName": "String", "status": "ITwinStatus",
}  # fmt: skip

# schema: {field: type}; `?` after the type means that the field may be absent
FIELDS: dict[str, dict[str, str]] = {
    # section 2.1
    "Repository": {
        "id": "String", "class": "RepositoryClass", "subClass": "RepositorySubClass", "displayName": "String",
        "uri": "String", "capabilities": "RepositoryCapabilities",
        "authentication": "StoredRepositoryAuthentication, null?", "options": "StoredRepositoryOptions, null?",
    },
    "RepositoryCapabilities": {"resources": "CapabilityLink"},
    "CapabilityLink": {"uri": "String"},
    # section 2.2
    "StoredHeaderAuthentication": {"type": "'Header'", "key": "String", "value": "String"},
    "StoredQueryParameterAuthentication": {"type": "'QueryParameter'", "key": "String", "value": "String"},
    "StoredBasicAuthentication": {"type": "'Basic'", "username": "String", "password": "String"},
    "StoredOAuth2AuthorizationCodePKCEAuthentication": {
        "type": "'OAuth2AuthorizationCodePKCE'", "clientId": "String", "scopes": "String",
        "authorizationEndpoint": "String", "tokenEndpoint": "String", "redirectUri": "String",
    },
    # section 2.3
    "StoredRepositoryOptions": {
        "queryParameters": "QueryParameters?", "minimumLevel": "Integer?", "maximumLevel": "Integer?",
    },
    # section 2.4
    "Resource": {
        "id": "String", "class": "ResourceClass", "subClass": "String, null?", "type": "String?",
        "displayName": "String", "capabilities": "ResourceCapabilities",
    },
    "ResourceCapabilities": {"graphics": "CapabilityLink"},
    # section 2.5
    "ITwinSummary": SUMMARY,
    "ITwin": SUMMARY | {
        "geographicLocation": "String, null?", "latitude": "Double, null?", "longitude": "Double, null?",
        "ianaTimeZone": "String, null?", "dataCenterLocation": "DataCenterLocation?", "parentId": "String, null?",
        "iTwinAccountId": "String, null?", "imageName": "String, null?", "image": "String, null?",
        "createdDateTime": "DateTime?", "createdBy": "String, null?", "lastModifiedDateTime": "DateTime?",
        "lastModifiedBy": "String, null?",
    },
    # section 2.6
    "Scene": {
        "id": "Uuid", "displayName": "String", "description": "String?", "parentId": "Uuid?", "iTwinId": "Uuid",
        "createdById": "Uuid", "creationTime": "DateTime", "lastModified": "DateTime", "sceneData": "SceneData",
    },
    "SceneData": {"objects": "SceneObjectMinimal[]"},
    # section 2.7
    "SceneObject": {
        "id": "Uuid", "displayName": "String?", "order": "Number?", "visible": "Boolean?", "version": "Semver",
        "kind": "String", "parentId": "Uuid?", "relatedId": "Uuid?", "data": "SceneObjectData", "sceneId": "Uuid",
        "createdById": "Uuid", "creationTime": "DateTime", "lastModified": "DateTime",
    },
    "SceneObjectMinimal": {
        "id": "Uuid", "displayName": "String?", "visible": "Boolean?", "kind": "String", "version": "Semver",
        "data": "SceneObjectData",
    },
    "SceneObjectCreate": {
        "id": "Uuid?", "displayName": "String?", "order": "Number?", "visible": "Boolean?", "version": "Semver",
        "kind": "String", "parentId": "Uuid?", "relatedId": "Uuid?", "data": "SceneObjectData",
    },
    "RepositoryResourceData": {
        "iTwinId": "Uuid", "repositoryId": "String", "id": "String", "class": "String", "subClass": "String?",
    },
    "View3dData": {
        "position": "Vector3d", "direction": "Vector3d", "up": "Vector3d", "isOrthographic": "Boolean",
        "aspectRatio": "Number", "near": "Number", "far": "Number", "fov": "Number?", "width": "Number?",
        "ecefTransform": "Number[]",
    },
    "Vector3d": {"x": "Number", "y": "Number", "z": "Number"},
    # section 2.8
    "Detector": {
        "name": "String", "displayName": "String, null?", "description": "String, null?", "type": "DetectorType",
        "documentationUrl": "String, null?", "versions": "Any[]",
    },
    # section 2.9
    "Webhook": {
        "id": "String", "scope": "WebhookScope", "scopeId": "String", "active": "Boolean", "callbackUrl": "String",
        "eventTypes": "EventType[]", "created": "String", "modified": "String",
    },
    # section 2.10
    "PagingLinks": {"self": "PagingLink", "next": "PagingLink?", "prev": "PagingLink?"},
    "PagingLink": {"href": "String"},
    # section 2.11
    "ErrorResponse": {"error": "ErrorBody"},
    "ErrorBody": {
        "code": "String, null", "message": "String, null", "target": "String, null", "details": "ErrorDetail[], null?",
    },
    "ErrorDetail": {"code": "String, null", "message": "String, null", "target": "String, null"},
    # section 4.1
    "RepositoryUpdate": {
        "displayName": "String?", "uri": "String?", "authentication": "StoredRepositoryAuthentication, null?",
        "options": "StoredRepositoryOptions, null?",
    },
    "RepositoryResponse": {"repository": "Repository"},
    # section 4.2
    "ResourceCreate": {"id": "String", "type": "String?", "displayName": "String"},
    "ResourceResponse": {"resource": "Resource"},
    # section 4.3
    "ITwinsResponse": {"iTwins": "ITwin[]", "_links": "PagingLinks"},
    # section 4.4
    "PrimaryAccountResponse": {"iTwin": "ITwinSummary"},
    # section 4.5
    "SceneCreate": {
        "id": "Uuid?", "displayName": "String", "description": "String?", "parentId": "Uuid?",
        "sceneData": "SceneDataCreate?",
    },
    "SceneDataCreate": {"objects": "SceneObjectCreate[]?"},
    "SceneResponse": {"scene": "Scene"},
    # section 4.6
    "SceneObjectsResponse": {"objects": "SceneObject[]", "sceneContext": "SceneContext", "_links": "PagingLinks"},
    "SceneContext": {"displayName": "String", "lastModified": "DateTime", "isPartial": "Boolean"},
    # section 4.7
    "DetectorCreate": {
        "name": "String", "displayName": "String, null?", "description": "String, null?", "type": "DetectorType",
        "documentationUrl": "String, null?",
    },
    "DetectorResponse": {"detector": "Detector"},
    # section 4.8
    "WebhookUpdate": {
        "secret": "String?", "active": "Boolean?", "callbackUrl": "String?", "eventTypes": "EventType[]?",
    },
}  # fmt: skip

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
PLAIN_TYPES = {"string": "String", "integer": "Integer", "number": "Number", "boolean": "Boolean"}


@pytest.mark.parametrize("name", FIELDS)
def test_object_has_its_fields(schemas: dict[str, Any], name: str) -> None:
    """An object has the documented fields, each with its type, nullability and necessity; later, it may have more."""
    schema = schemas[name]
    required = schema.get("required", [])
    assert set(required) <= set(schema["properties"])
    found = {
        field: _written(described) + ("" if field in required else "?")
        for field, described in schema["properties"].items()
    }
    assert FIELDS[name].items() <= found.items()


@pytest.mark.parametrize("name", FIELDS)
def test_field_carries_its_note(schemas: dict[str, Any], name: str) -> None:
    """A field whose row in the tables has a note carries it as its description."""
    bare = {field for field, described in schemas[name]["properties"].items() if not described.get("description")}
    assert bare == WITHOUT_NOTE.get(name, set())


@pytest.mark.parametrize("name", sorted(FREE_OBJECTS))
def test_free_object_takes_anything(schemas: dict[str, Any], name: str) -> None:
    """An object whose content is not shown, or depends on something else, takes any property."""
    assert schemas[name]["additionalProperties"] is True
    assert "properties" not in schemas[name]


def test_authentication_is_one_of_four(schemas: dict[str, Any]) -> None:
    """Authentication is one of the four documented types."""
    assert [_written(choice) for choice in schemas["StoredRepositoryAuthentication"]["oneOf"]] == [
        *("StoredHeaderAuthentication", "StoredQueryParameterAuthentication", "StoredBasicAuthentication"),
        "StoredOAuth2AuthorizationCodePKCEAuthentication",
    ]


def _written(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name: str = schema["$ref"].removeprefix("#/components/schemas/")
        return name
    if "oneOf" in schema:
        return ", ".join("null" if choice == {"type": "null"} else _written(choice) for choice in schema["oneOf"])
    if "const" in schema:
        return repr(schema["const"]) if schema["type"] == "string" else "Mismatch"
    if not schema:
        return "Any"
    match schema["type"]:
        case "array":
            return f"{_written(schema['items'])}[]"
        case [kind, "null"]:
            return f"{_written(schema | {'type': kind})}, null"
        case "number" if schema.get("format") == "double":
            return "Double"
        case kind:
            return PLAIN_TYPES[kind]
