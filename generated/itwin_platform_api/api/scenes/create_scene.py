from collections.abc import Iterable
from typing import Any

from ...client import AuthenticatedClient
from ...decoding import (
    MAKERS,
    blank,
    decode_datetime,
    decode_kind,
)
from ...encoding import encode_parameters, fields_of
from ...errors import decode_error, read_object
from ...expected import fit
from ...models.repository_resource_data import RepositoryResourceData
from ...models.scene import Scene
from ...models.scene_create import SceneCreate
from ...models.scene_data import SceneData
from ...models.scene_object_minimal import SceneObjectMinimal
from ...models.scene_response import SceneResponse
from ...models.vector3d import Vector3d
from ...models.view3d_data import View3dData
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader, list_of, made_of, optional, required, structure
from ...types import UNSET, Response, Unset

QUERY_PARAMETERS = frozenset(("iTwinId",))
METHOD: str = "POST"
ROUTE: str = "/scenes/"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "scene": {
        "id": "string",
        "displayName": "string",
        "description": "string",
        "parentId": "string",
        "iTwinId": "string",
        "createdById": "string",
        "creationTime": "string",
        "lastModified": "string",
        "sceneData": {
            "objects": [
                {
                    "id": "string",
                    "displayName": "string",
                    "visible": "boolean",
                    "kind": "string",
                    "version": "string",
                    "data": None,
                }
            ]
        },
    }
}
#: What the document says of each argument.
RULES: dict[str, Rule] = {
    "itwin_id": Rule(argument="itwin_id", kind="string", required=True, least=1, code="InvalidScenesRequest"),
    "x_correlation_id": Rule(argument="correlation_id", kind="string", code="InvalidScenesRequest"),
    "body": Rule(
        argument="",
        kind="object",
        required=True,
        code="InvalidScenesRequest",
        properties={
            "id": Rule(
                argument="id",
                kind="string",
                pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                code="InvalidScenesRequest",
            ),
            "displayName": Rule(argument="display_name", kind="string", required=True, code="InvalidScenesRequest"),
            "description": Rule(argument="description", kind="string", code="InvalidScenesRequest"),
            "parentId": Rule(
                argument="parent_id",
                kind="string",
                pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                code="InvalidRequestBody",
                target="parentId",
            ),
            "sceneData": Rule(
                argument="objects",
                kind="object",
                code="InvalidScenesRequest",
                properties={
                    "objects": Rule(
                        argument="",
                        kind="array",
                        most=100,
                        code="InvalidScenesRequest",
                        items=Rule(
                            argument="",
                            kind="object",
                            code="InvalidScenesRequest",
                            properties={
                                "id": Rule(
                                    argument="id",
                                    kind="string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "displayName": Rule(
                                    argument="display_name", kind="string", code="InvalidScenesRequest"
                                ),
                                "order": Rule(argument="order", kind="number", code="InvalidScenesRequest"),
                                "visible": Rule(argument="visible", kind="boolean", code="InvalidScenesRequest"),
                                "version": Rule(
                                    argument="version",
                                    kind="string",
                                    required=True,
                                    pattern="^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$",
                                    form="a semantic version, such as 1.0.0",
                                    code="InvalidScenesRequest",
                                ),
                                "kind": Rule(
                                    argument="kind", kind="string", required=True, code="InvalidScenesRequest"
                                ),
                                "parentId": Rule(
                                    argument="parent_id",
                                    kind="string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "relatedId": Rule(
                                    argument="related_id",
                                    kind="string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "data": Rule(
                                    argument="data", kind="object", required=True, code="InvalidScenesRequest"
                                ),
                            },
                        ),
                    )
                },
            ),
        },
    ),
}


def build_request(
    *,
    body: SceneCreate,
    itwin_id: str,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
    reject: Reject | None = None,
) -> RequestValues:
    """Return the request as values; nothing is sent.

    The other arguments are those of `asyncio`.

    Args:
        reject: makes the error of the first rule of the document that an argument breaks. Nothing is checked by default.
    """

    fields = fields_of(body)
    if reject is not None:
        check(
            RULES,
            {
                "itwin_id": itwin_id,
                "x_correlation_id": x_correlation_id,
                "accept": accept,
                "body": fields,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path=ROUTE,
        query=encode_parameters(
            {
                "iTwinId": itwin_id,
            }
        ),
        headers=encode_parameters(
            {
                "x-correlation-id": x_correlation_id,
                "Accept": accept,
            }
        ),
        body=fields,
        given=body,
    )


def parse_response(response: Received) -> SceneResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _READER.read(response.content)
        return SceneResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
    raise decode_error(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: SceneCreate,
    itwin_id: str,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[SceneResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the response as well."""

    response = await send(
        client.get_async_httpx_client(),
        build_request(
            body=body,
            itwin_id=itwin_id,
            x_correlation_id=x_correlation_id,
            accept=accept,
        ),
    )
    return Response(
        status_code=response.status_code,
        content=response.content,
        headers=response.headers,
        parsed=parse_response(response),
    )


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: SceneCreate,
    itwin_id: str,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> SceneResponse:
    """Create scene

    Technical Preview: for testing only, not for production use; may change.

    Creates a scene. The service checks the data against the caller's permissions and against the schemas of the
    objects.

    Authorization: access token with scope `itwin-platform`. Permission required for scene
    operations: not documented.

    Args:
        itwin_id (str): Primary iTwin of the scene. Inferred: not empty. The iTwin id of a scene is a UUID;
            whether another string gets an error of its own is not documented.
        x_correlation_id (str | Unset): Optional. Activity id for tracking the request.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.
        body (SceneCreate): Body of create scene (`SceneCreateDTO`). The service checks the data against the
            caller's permissions and against the schemas of the objects.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: a success that cannot be read.
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            itwin_id=itwin_id,
            x_correlation_id=x_correlation_id,
            accept=accept,
        )
    ).parsed


def _make_repository_resource_data(values: Any) -> RepositoryResourceData:
    model = blank(RepositoryResourceData)
    model.additional_properties = {}
    model.itwin_id = values.itwin_id
    model.repository_id = values.repository_id
    model.id = values.id
    model.class_ = values.class_
    model.sub_class = values.sub_class
    return model


def _make_vector3d(values: Any) -> Vector3d:
    model = blank(Vector3d)
    model.additional_properties = {}
    model.x = values.x
    model.y = values.y
    model.z = values.z
    return model


def _make_view3d_data(values: Any) -> View3dData:
    model = blank(View3dData)
    model.additional_properties = {}
    model.position = made_of(values.position)
    model.direction = made_of(values.direction)
    model.up = made_of(values.up)
    model.is_orthographic = values.is_orthographic
    model.aspect_ratio = values.aspect_ratio
    model.near = values.near
    model.far = values.far
    model.ecef_transform = values.ecef_transform
    model.fov = values.fov
    model.width = values.width
    return model


def _make_scene_object_minimal(values: Any) -> SceneObjectMinimal:
    model = blank(SceneObjectMinimal)
    model.additional_properties = {}
    model.id = values.id
    model.version = values.version
    model.display_name = values.display_name
    model.visible = values.visible
    return model


def _make_scene_object_minimal_of_repository_resource_data(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = "RepositoryResource"
    model.data = values.data
    return model


def _make_scene_object_minimal_of_view3d_data(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = "View3d"
    model.data = values.data
    return model


def _make_scene_object_minimal_of_other_shape(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = values.kind
    model.data = decode_kind(_SHAPES, values.kind, values.data)
    return model


_SHAPES = {
    "RepositoryResource": RepositoryResourceData.from_dict,
    "View3d": View3dData.from_dict,
}


def _make_scene_data(values: Any) -> SceneData:
    model = blank(SceneData)
    model.additional_properties = {}
    model.objects = [MAKERS[item.__class__](item) for item in values.objects]
    return model


def _make_scene(values: Any) -> Scene:
    fit(EXPECTED["scene"]["id"], values.id)
    fit(EXPECTED["scene"]["displayName"], values.display_name)
    fit(EXPECTED["scene"]["iTwinId"], values.itwin_id)
    fit(EXPECTED["scene"]["createdById"], values.created_by_id)
    fit(EXPECTED["scene"]["creationTime"], values.creation_time)
    fit(EXPECTED["scene"]["lastModified"], values.last_modified)
    fit(EXPECTED["scene"]["description"], values.description)
    fit(EXPECTED["scene"]["parentId"], values.parent_id)
    model = blank(Scene)
    model.additional_properties = {}
    model.scene_data = made_of(values.scene_data)
    model.id = values.id
    model.display_name = values.display_name
    model.itwin_id = values.itwin_id
    model.created_by_id = values.created_by_id
    model.creation_time = decode_datetime(values.creation_time)
    model.last_modified = decode_datetime(values.last_modified)
    model.description = values.description
    model.parent_id = values.parent_id
    return model


def _make_scene_response(values: Any) -> SceneResponse:
    model = blank(SceneResponse)
    model.additional_properties = {}
    model.scene = made_of(values.scene)
    return model


def _structures(unknown: Iterable[str]) -> Iterable[Any]:
    fields = [
        optional("itwin_id", str | None, "iTwinId"),
        optional("repository_id", str | None, "repositoryId"),
        optional("id", str | None, "id"),
        optional("class_", str | None, "class"),
        optional("sub_class", str | None, "subClass"),
    ]
    repository_resource_data_ = structure(_make_repository_resource_data, fields, unknown)
    fields = [
        optional("x", int | float | None, "x"),
        optional("y", int | float | None, "y"),
        optional("z", int | float | None, "z"),
    ]
    vector3d_ = structure(_make_vector3d, fields, unknown)
    fields = [
        optional("position", vector3d_ | None, "position"),
        optional("direction", vector3d_ | None, "direction"),
        optional("up", vector3d_ | None, "up"),
        optional("is_orthographic", bool | None, "isOrthographic"),
        optional("aspect_ratio", int | float | None, "aspectRatio"),
        optional("near", int | float | None, "near"),
        optional("far", int | float | None, "far"),
        optional("ecef_transform", list[int | float] | None, "ecefTransform"),
        optional("fov", int | float | None, "fov"),
        optional("width", int | float | None, "width"),
    ]
    view3d_data_ = structure(_make_view3d_data, fields, unknown)
    fields = [
        optional("id", str | None, "id"),
        optional("version", str | None, "version"),
        optional("display_name", str | None, "displayName"),
        optional("visible", bool | None, "visible"),
    ]
    other = [
        *fields,
        optional("kind", str | None, "kind"),
        optional("data", Any, "data"),
    ]
    scene_object_minimal_ = (
        structure(
            _make_scene_object_minimal_of_repository_resource_data,
            [
                *fields,
                optional("data", repository_resource_data_ | None, "data"),
            ],
            unknown,
            tag=("kind", "RepositoryResource"),
        )
        | structure(
            _make_scene_object_minimal_of_view3d_data,
            [
                *fields,
                optional("data", view3d_data_ | None, "data"),
            ],
            unknown,
            tag=("kind", "View3d"),
        ),
        # msgspec has to know the values of a tag beforehand: an item with another value is read here.
        structure(_make_scene_object_minimal_of_other_shape, other, unknown),
    )
    for item in scene_object_minimal_:
        item = structure(
            _make_scene_data,
            [
                required("objects", list_of(item), "objects"),
            ],
            unknown,
        )
        item = structure(
            _make_scene,
            [
                required("scene_data", item, "sceneData"),
                optional("id", Any, "id"),
                optional("display_name", Any, "displayName"),
                optional("itwin_id", Any, "iTwinId"),
                optional("created_by_id", Any, "createdById"),
                optional("creation_time", Any, "creationTime"),
                optional("last_modified", Any, "lastModified"),
                optional("description", Any, "description"),
                optional("parent_id", Any, "parentId"),
            ],
            unknown,
        )
        item = structure(
            _make_scene_response,
            [
                required("scene", item, "scene"),
            ],
            unknown,
        )
        yield item


_READER = ResponseReader[SceneResponse](_structures)
