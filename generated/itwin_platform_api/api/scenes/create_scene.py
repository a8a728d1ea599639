from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.json import Decoder

from ...client import AuthenticatedClient
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
from ...types import (
    MAKERS,
    UNSET,
    Response,
    Unset,
    blank,
    decode_datetime,
    decode_kind,
    encode_parameters,
)

T = TypeVar("T")


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
                    ),
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

    if reject is not None:
        check(
            RULES,
            {
                "itwin_id": itwin_id,
                "x_correlation_id": x_correlation_id,
                "accept": accept,
                "body": body,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path="/scenes/",
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
        body=body,
    )


def parse_response(response: Received) -> SceneResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _read_as_described(response.content)
        if read is not None:
            return read
        return SceneResponse.from_dict(read_object(response, EXPECTED))
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

    Source: sections 4.5, 5

    Args:
        itwin_id (str): Primary iTwin of the scene. Inferred: not empty. The iTwin id of a scene is a UUID;
            whether another string gets an error of its own is not documented.
            Source: sections 4.5, 4.6, 2.6
        x_correlation_id (str | Unset): Optional. Activity id for tracking the request.
            Source: sections 4.5, 4.6
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending.

            Source: section 9 Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.
        body (SceneCreate): Body of create scene (`SceneCreateDTO`). The service checks the data against the
            caller's permissions and against the schemas of the objects.
            Source: sections 4.5, 7

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


# A response that is as described is read into these structures: msgspec checks the types while it parses, which takes
# half the time of making dictionaries. They forbid unknown fields, and null is read in each field, whatever is
# documented.
_ABSENT: Any = UNSET


class _RepositoryResourceData(
    Struct,
    forbid_unknown_fields=True,
    gc=False,
    rename={
        "itwin_id": "iTwinId",
        "repository_id": "repositoryId",
        "class_": "class",
        "sub_class": "subClass",
    },
):
    itwin_id: str | None = _ABSENT
    repository_id: str | None = _ABSENT
    id: str | None = _ABSENT
    class_: str | None = _ABSENT
    sub_class: str | None = _ABSENT


def _make_repository_resource_data(values: Any) -> RepositoryResourceData:
    model = blank(RepositoryResourceData)
    model.itwin_id = values.itwin_id
    model.repository_id = values.repository_id
    model.id = values.id
    model.class_ = values.class_
    model.sub_class = values.sub_class
    model.additional_properties = {}
    return model


class _Vector3d(Struct, forbid_unknown_fields=True, gc=False):
    x: int | float | None = _ABSENT
    y: int | float | None = _ABSENT
    z: int | float | None = _ABSENT


def _make_vector3d(values: Any) -> Vector3d:
    model = blank(Vector3d)
    model.x = values.x
    model.y = values.y
    model.z = values.z
    model.additional_properties = {}
    return model


class _View3dData(
    Struct,
    forbid_unknown_fields=True,
    gc=False,
    rename={
        "is_orthographic": "isOrthographic",
        "aspect_ratio": "aspectRatio",
        "ecef_transform": "ecefTransform",
    },
):
    position: _Vector3d | None = _ABSENT
    direction: _Vector3d | None = _ABSENT
    up: _Vector3d | None = _ABSENT
    is_orthographic: bool | None = _ABSENT
    aspect_ratio: int | float | None = _ABSENT
    near: int | float | None = _ABSENT
    far: int | float | None = _ABSENT
    ecef_transform: list[int | float] | None = _ABSENT
    fov: int | float | None = _ABSENT
    width: int | float | None = _ABSENT


def _make_view3d_data(values: Any) -> View3dData:
    model = blank(View3dData)
    value = values.position
    model.position = _make_vector3d(value) if value.__class__ is _Vector3d else value
    value = values.direction
    model.direction = _make_vector3d(value) if value.__class__ is _Vector3d else value
    value = values.up
    model.up = _make_vector3d(value) if value.__class__ is _Vector3d else value
    model.is_orthographic = values.is_orthographic
    model.aspect_ratio = values.aspect_ratio
    model.near = values.near
    model.far = values.far
    model.ecef_transform = values.ecef_transform
    model.fov = values.fov
    model.width = values.width
    model.additional_properties = {}
    return model


class _SceneObjectMinimal(
    Struct,
    forbid_unknown_fields=True,
    gc=False,
    rename={
        "display_name": "displayName",
    },
):
    id: str | None = _ABSENT
    version: str | None = _ABSENT
    display_name: str | None = _ABSENT
    visible: bool | None = _ABSENT


def _make_scene_object_minimal(values: Any) -> SceneObjectMinimal:
    model = blank(SceneObjectMinimal)
    model.id = values.id
    model.version = values.version
    model.display_name = values.display_name
    model.visible = values.visible
    model.additional_properties = {}
    return model


class _SceneObjectMinimalOfRepositoryResourceData(_SceneObjectMinimal, tag_field="kind", tag="RepositoryResource"):
    data: _RepositoryResourceData | None = _ABSENT


def _make_scene_object_minimal_of_repository_resource_data(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = "RepositoryResource"
    model.data = values.data
    return model


MAKERS[_RepositoryResourceData] = _make_repository_resource_data


class _SceneObjectMinimalOfView3dData(_SceneObjectMinimal, tag_field="kind", tag="View3d"):
    data: _View3dData | None = _ABSENT


def _make_scene_object_minimal_of_view3d_data(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = "View3d"
    model.data = values.data
    return model


MAKERS[_View3dData] = _make_view3d_data


class _SceneObjectMinimalOfOtherShape(_SceneObjectMinimal):
    kind: str | None = _ABSENT
    data: Any = _ABSENT


def _make_scene_object_minimal_of_other_shape(values: Any) -> SceneObjectMinimal:
    model = _make_scene_object_minimal(values)
    model.kind = values.kind
    model.data = decode_kind(_SHAPES, values.kind, values.data)
    return model


_SHAPES = {
    "RepositoryResource": RepositoryResourceData.from_dict,
    "View3d": View3dData.from_dict,
}


class _SceneData(Struct, Generic[T], forbid_unknown_fields=True):
    objects: list[T]


def _make_scene_data(values: Any) -> SceneData:
    model = blank(SceneData)
    model.objects = [_MAKERS[item.__class__](item) for item in values.objects]
    model.additional_properties = {}
    return model


class _Scene(
    Struct,
    Generic[T],
    forbid_unknown_fields=True,
    rename={
        "scene_data": "sceneData",
        "display_name": "displayName",
        "itwin_id": "iTwinId",
        "created_by_id": "createdById",
        "creation_time": "creationTime",
        "last_modified": "lastModified",
        "parent_id": "parentId",
    },
):
    scene_data: _SceneData[T]
    id: Any = _ABSENT
    display_name: Any = _ABSENT
    itwin_id: Any = _ABSENT
    created_by_id: Any = _ABSENT
    creation_time: Any = _ABSENT
    last_modified: Any = _ABSENT
    description: Any = _ABSENT
    parent_id: Any = _ABSENT


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
    model.scene_data = _make_scene_data(values.scene_data)
    model.id = values.id
    model.display_name = values.display_name
    model.itwin_id = values.itwin_id
    model.created_by_id = values.created_by_id
    model.creation_time = decode_datetime(values.creation_time)
    model.last_modified = decode_datetime(values.last_modified)
    model.description = values.description
    model.parent_id = values.parent_id
    model.additional_properties = {}
    return model


class _SceneResponse(Struct, Generic[T], forbid_unknown_fields=True):
    scene: _Scene[T]


def _make_scene_response(values: Any) -> SceneResponse:
    model = blank(SceneResponse)
    model.scene = _make_scene(values.scene)
    model.additional_properties = {}
    return model


_MAKERS: dict[type[Any], Callable[[Any], SceneObjectMinimal]] = {
    _SceneObjectMinimalOfRepositoryResourceData: _make_scene_object_minimal_of_repository_resource_data,
    _SceneObjectMinimalOfView3dData: _make_scene_object_minimal_of_view3d_data,
    _SceneObjectMinimalOfOtherShape: _make_scene_object_minimal_of_other_shape,
}
_DECODERS = (
    Decoder(_SceneResponse[_SceneObjectMinimalOfRepositoryResourceData | _SceneObjectMinimalOfView3dData]),
    # msgspec has to know the values of a tag beforehand: an item with another value is read here.
    Decoder(_SceneResponse[_SceneObjectMinimalOfOtherShape]),
)


def _read_as_described(body: bytes) -> SceneResponse | None:
    """Read a response that is as described; None for any other."""
    for decoder in _DECODERS:
        try:
            values: Any = decoder.decode(body)
            return _make_scene_response(values)
        except (ValueError, RecursionError):
            continue
    return None
