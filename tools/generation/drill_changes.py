"""The changes of the regeneration drill, each made to the parsed `openapi.yaml` as a preview may change it."""

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]


def schema(document: Document, name: str) -> dict[str, Any]:
    """Return a schema by name."""
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


def operation(document: Document, path: str, method: str) -> dict[str, Any]:
    """Return an operation by path and method."""
    found: dict[str, Any] = document["paths"][path][method]
    return found


def new_property_and_enum_value(document: Document) -> None:
    """An iTwin gets a property, and a detector type is added."""
    schema(document, "ITwin")["properties"]["region"] = {"type": "string"}
    schema(document, "DetectorType")["enum"].append("MeshSegmentationDetector")
    schema(document, "DetectorType")["x-enum-varnames"].append("MESH_SEGMENTATION_DETECTOR")


def renamed_option(document: Document) -> None:
    """An option of a repository has another name."""
    properties = schema(document, "StoredRepositoryOptions")["properties"]
    properties["leastLevel"] = properties.pop("minimumLevel")


def required_header(document: Document) -> None:
    """Updating a webhook needs a header."""
    header = {"name": "X-Region", "in": "header", "required": True, "schema": {"type": "string"}}
    operation(document, "/webhooks/{webhookId}", "patch")["parameters"].append(header)


def get_and_delete_scene(document: Document) -> None:
    """A scene can be read and deleted."""
    common: dict[str, Any] = {"tags": ["scenes"], "security": [{"bearer": ["itwin-platform"]}]}
    parameters = [{"$ref": "#/components/parameters/SceneIdPath"}]
    media = {
        "application/vnd.vendor.itwin-platform.v1+json": {"schema": {"$ref": "#/components/schemas/SceneResponse"}}
    }
    document["paths"]["/scenes/{sceneId}"] = {
        "get": common
        | {"operationId": "get_scene", "parameters": parameters}
        | {"responses": {"200": {"description": "The scene.", "content": media}}},
        "delete": common
        | {"operationId": "delete_scene", "parameters": parameters}
        | {"responses": {"204": {"description": "The scene is gone."}}},
    }


def moved_path(document: Document) -> None:
    """The detectors have another path."""
    document["paths"]["/reality/detectors"] = document["paths"].pop("/reality-analysis/detectors")


def new_class_and_authentication(document: Document) -> None:
    """A repository class has an option of its own, and there is a fifth type of authentication."""
    schema(document, "RepositoryClass")["enum"].append("PointClouds")
    schema(document, "RepositoryClass")["x-enum-varnames"].append("POINT_CLOUDS")
    schema(document, "StoredRepositoryOptions")["properties"]["density"] = {"type": "integer"}
    document["components"]["schemas"]["StoredApiKeyAuthentication"] = {
        "type": "object",
        "required": ["type", "apiKey"],
        "properties": {
            "type": {"type": "string", "const": "ApiKey"},
            "apiKey": {"type": "string", "x-secret": True},
        },
    }
    choices = schema(document, "StoredRepositoryAuthentication")["oneOf"]
    choices.append({"$ref": "#/components/schemas/StoredApiKeyAuthentication"})


def removed_operation(document: Document) -> None:
    """Detectors cannot be created any more."""
    del document["paths"]["/reality-analysis/detectors"]
    for name in ("Detector", "DetectorCreate", "DetectorResponse", "DetectorType"):
        del document["components"]["schemas"][name]


def schema_named_itwin_response(document: Document) -> None:
    """An iTwin can be read; its response is called ITwinResponse."""
    schema = {"type": "object", "required": ["iTwin"], "properties": {"iTwin": {"$ref": "#/components/schemas/ITwin"}}}
    document["components"]["schemas"]["ITwinResponse"] = schema
    media = {
        "application/vnd.vendor.itwin-platform.v1+json": {"schema": {"$ref": "#/components/schemas/ITwinResponse"}}
    }
    document["paths"]["/itwins/{iTwinId}"] = {
        "get": {
            "operationId": "get_itwin",
            "tags": ["itwins"],
            "security": [{"bearer": ["itwin-platform"]}],
            "parameters": [{"$ref": "#/components/parameters/ITwinIdPath"}],
            "responses": {"200": {"description": "The iTwin.", "content": media}},
        }
    }


def removed_option(document: Document) -> None:
    """An option of a repository is gone."""
    del schema(document, "StoredRepositoryOptions")["properties"]["maximumLevel"]


def smaller_page(document: Document) -> None:
    """A page of scene objects holds 50."""
    document["components"]["parameters"]["SceneObjectsTop"]["schema"]["maximum"] = 50


def shorter_name(document: Document) -> None:
    """The name of a repository has 100 characters at most."""
    schema(document, "RepositoryUpdate")["properties"]["displayName"]["maxLength"] = 100


def another_scope(document: Document) -> None:
    """Listing iTwins needs another scope."""
    operation(document, "/itwins/", "get")["security"] = [{"bearer": ["itwins:read"]}]


def another_scheme(document: Document) -> None:
    """The token is sent otherwise."""
    document["components"]["securitySchemes"]["bearer"]["scheme"] = "basic"


def deprecated(document: Document) -> None:
    """An operation is deprecated."""
    operation(document, "/itwins/", "get")["deprecated"] = True


def server_path(document: Document) -> None:
    """The service moves below a path."""
    document["servers"][0]["url"] = "{base_url}/v2"


def media_type(document: Document) -> None:
    """Creating a scene responds in the second version."""
    content = operation(document, "/scenes/", "post")["responses"]["201"]["content"]
    content["application/vnd.vendor.itwin-platform.v2+json"] = content.pop(next(iter(content)))


def exploded_list(document: Document) -> None:
    """A list is sent as repeated parameters."""
    document["components"]["parameters"]["Select"]["explode"] = True


def header_type(document: Document) -> None:
    """A response header holds a string."""
    document["components"]["headers"]["RetryAfter"]["schema"]["type"] = "string"


def closed_object(document: Document) -> None:
    """A model takes no unknown properties."""
    schema(document, "Vector3d")["additionalProperties"] = False


def missing_member_name(document: Document) -> None:
    """An enum value has no member name."""
    schema(document, "ITwinStatus")["enum"].append("Archived")


def renamed_member(document: Document) -> None:
    """A member has another name."""
    schema(document, "ITwinStatus")["x-enum-varnames"][0] = "ENABLED"


def date_and_uuid(document: Document) -> None:
    """An iTwin has a date and a UUID."""
    properties = schema(document, "ITwin")["properties"]
    properties["startDate"] = {"type": "string", "format": "date"}
    properties["key"] = {"type": "string", "format": "uuid"}


def exploding_parameter(document: Document) -> None:
    """A new list parameter does not say how it is sent."""
    parameter = {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}
    operation(document, "/itwins/", "get")["parameters"].append(parameter)


def quoted_description(document: Document) -> None:
    """A description ends in a quote."""
    schema(document, "ITwin")["properties"]["number"]["description"] = 'The "number"'


SEVEN: tuple[Callable[[Document], None], ...] = (
    new_property_and_enum_value,
    renamed_option,
    required_header,
    get_and_delete_scene,
    moved_path,
    new_class_and_authentication,
    removed_operation,
)
ONCE_SILENT: tuple[Callable[[Document], None], ...] = (
    schema_named_itwin_response,
    removed_option,
    smaller_page,
    shorter_name,
    another_scope,
    another_scheme,
    deprecated,
    server_path,
    media_type,
    exploded_list,
    header_type,
    closed_object,
    missing_member_name,
    renamed_member,
    date_and_uuid,
    exploding_parameter,
    quoted_description,
)
