from collections.abc import Callable
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.json import Decoder

from ...client import AuthenticatedClient
from ...errors import decode_error, read_object
from ...expected import fit
from ...models.paging_links import PagingLinks
from ...models.repository_resource_data import RepositoryResourceData
from ...models.scene_context import SceneContext
from ...models.scene_object import SceneObject
from ...models.scene_objects_response import SceneObjectsResponse
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
    decode_model,
    encode_parameters,
    encode_string,
)

T = TypeVar("T")


QUERY_PARAMETERS = frozenset(
    (
        "iTwinId",
        "orderBy",
        "$skip",
        "$top",
    )
)
METHOD: str = "GET"
ROUTE: str = "/scenes/{scene_id}/objects"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "objects": [
        {
            "id": "string",
            "displayName": "string",
            "order": "number",
            "visible": "boolean",
            "version": "string",
            "kind": "string",
            "parentId": "string",
            "relatedId": "string",
            "data": None,
            "sceneId": "string",
            "createdById": "string",
            "creationTime": "string",
            "lastModified": "string",
        }
    ],
    "sceneContext": {"displayName": "string", "lastModified": "string", "isPartial": "boolean"},
}
#: What the document says of each argument.
RULES: dict[str, Rule] = {
    "scene_id": Rule(
        argument="scene_id",
        kind="string",
        required=True,
        pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
    ),
    "itwin_id": Rule(argument="itwin_id", kind="string", required=True, least=1),
    "order_by": Rule(argument="order_by", kind="string"),
    "skip": Rule(argument="skip", kind="integer", least=0),
    "top": Rule(argument="page_size", kind="integer", least=1, most=100),
    "x_correlation_id": Rule(argument="correlation_id", kind="string"),
}


def build_request(
    scene_id: str,
    *,
    itwin_id: str,
    order_by: str | Unset = UNSET,
    skip: int | Unset = UNSET,
    top: int | Unset = UNSET,
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
                "scene_id": scene_id,
                "itwin_id": itwin_id,
                "order_by": order_by,
                "skip": skip,
                "top": top,
                "x_correlation_id": x_correlation_id,
                "accept": accept,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path="/scenes/{scene_id}/objects".format(
            scene_id=quote(encode_string(scene_id), safe=""),
        ),
        query=encode_parameters(
            {
                "iTwinId": itwin_id,
                "orderBy": order_by,
                "$skip": skip,
                "$top": top,
            }
        ),
        headers=encode_parameters(
            {
                "x-correlation-id": x_correlation_id,
                "Accept": accept,
            }
        ),
    )


def parse_response(response: Received) -> SceneObjectsResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _read_as_described(response.content)
        if read is not None:
            return read
        return SceneObjectsResponse.from_dict(read_object(response, EXPECTED))
    raise decode_error(response)


async def asyncio_detailed(
    scene_id: str,
    *,
    client: AuthenticatedClient,
    itwin_id: str,
    order_by: str | Unset = UNSET,
    skip: int | Unset = UNSET,
    top: int | Unset = UNSET,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[SceneObjectsResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the response as well."""

    response = await send(
        client.get_async_httpx_client(),
        build_request(
            scene_id=scene_id,
            itwin_id=itwin_id,
            order_by=order_by,
            skip=skip,
            top=top,
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
    scene_id: str,
    *,
    client: AuthenticatedClient,
    itwin_id: str,
    order_by: str | Unset = UNSET,
    skip: int | Unset = UNSET,
    top: int | Unset = UNSET,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> SceneObjectsResponse:
    """List scene objects

    Technical Preview: for testing only, not for production use; may change.

    Lists the objects of a scene. The listing holds the objects that the caller may see. Pages count these objects
    only.

    What an invalid parameter gets is not documented. Inferred: 404, the only error of the operation beside 401 and
    429.

    Authorization: access token with scope `itwin-platform`. Permission required for scene
    operations: not documented.

    Source: sections 4.6, 5

    Args:
        scene_id (str): Scene id. Inferred: a UUID, as the id of a scene is.
            Source: sections 4.6, 2.6
        itwin_id (str): Primary iTwin of the scene. Inferred: not empty. The iTwin id of a scene is a UUID;
            whether another string gets an error of its own is not documented.
            Source: sections 4.5, 4.6, 2.6
        order_by (str | Unset): Optional. Default `kind`. Other allowed values: not documented.
            Source: section 4.6
        skip (int | Unset): Optional. Default 0. Inferred: not negative.
            Source: sections 4.6, 8
        top (int | Unset): Optional. Default 100. Max 100. Inferred: at least 1.
            Source: sections 4.6, 8
        x_correlation_id (str | Unset): Optional. Activity id for tracking the request.
            Source: sections 4.5, 4.6
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending.

            Source: section 9 Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: a success that cannot be read.
    """

    return (
        await asyncio_detailed(
            scene_id=scene_id,
            client=client,
            itwin_id=itwin_id,
            order_by=order_by,
            skip=skip,
            top=top,
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


class _SceneObject(
    Struct,
    forbid_unknown_fields=True,
    gc=False,
    rename={
        "scene_id": "sceneId",
        "created_by_id": "createdById",
        "creation_time": "creationTime",
        "last_modified": "lastModified",
        "display_name": "displayName",
        "parent_id": "parentId",
        "related_id": "relatedId",
    },
):
    id: str | None = _ABSENT
    version: str | None = _ABSENT
    scene_id: str | None = _ABSENT
    created_by_id: str | None = _ABSENT
    creation_time: str | None = _ABSENT
    last_modified: str | None = _ABSENT
    display_name: str | None = _ABSENT
    order: int | float | None = _ABSENT
    visible: bool | None = _ABSENT
    parent_id: str | None = _ABSENT
    related_id: str | None = _ABSENT


def _make_scene_object(values: Any) -> SceneObject:
    model = blank(SceneObject)
    model.id = values.id
    model.version = values.version
    model.scene_id = values.scene_id
    model.created_by_id = values.created_by_id
    value = values.creation_time
    model.creation_time = decode_datetime(value) if value.__class__ is str else value
    value = values.last_modified
    model.last_modified = decode_datetime(value) if value.__class__ is str else value
    model.display_name = values.display_name
    model.order = values.order
    model.visible = values.visible
    model.parent_id = values.parent_id
    model.related_id = values.related_id
    model.additional_properties = {}
    return model


class _SceneObjectOfRepositoryResourceData(_SceneObject, tag_field="kind", tag="RepositoryResource"):
    data: _RepositoryResourceData | None = _ABSENT


def _make_scene_object_of_repository_resource_data(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = "RepositoryResource"
    model.data = values.data
    return model


MAKERS[_RepositoryResourceData] = _make_repository_resource_data


class _SceneObjectOfView3dData(_SceneObject, tag_field="kind", tag="View3d"):
    data: _View3dData | None = _ABSENT


def _make_scene_object_of_view3d_data(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = "View3d"
    model.data = values.data
    return model


MAKERS[_View3dData] = _make_view3d_data


class _SceneObjectOfOtherShape(_SceneObject):
    kind: str | None = _ABSENT
    data: Any = _ABSENT


def _make_scene_object_of_other_shape(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = values.kind
    model.data = decode_kind(_SHAPES, values.kind, values.data)
    return model


_SHAPES = {
    "RepositoryResource": RepositoryResourceData.from_dict,
    "View3d": View3dData.from_dict,
}


class _SceneObjectsResponse(
    Struct,
    Generic[T],
    forbid_unknown_fields=True,
    rename={
        "scene_context": "sceneContext",
        "links": "_links",
    },
):
    objects: list[T]
    scene_context: Any = _ABSENT
    links: Any = _ABSENT


def _make_scene_objects_response(values: Any) -> SceneObjectsResponse:
    fit(EXPECTED["sceneContext"], values.scene_context)
    model = blank(SceneObjectsResponse)
    model.objects = [_MAKERS[item.__class__](item) for item in values.objects]
    model.scene_context = decode_model(SceneContext.from_dict, values.scene_context)
    model.links = decode_model(PagingLinks.from_dict, values.links)
    model.additional_properties = {}
    return model


_MAKERS: dict[type[Any], Callable[[Any], SceneObject]] = {
    _SceneObjectOfRepositoryResourceData: _make_scene_object_of_repository_resource_data,
    _SceneObjectOfView3dData: _make_scene_object_of_view3d_data,
    _SceneObjectOfOtherShape: _make_scene_object_of_other_shape,
}
_DECODERS = (
    Decoder(_SceneObjectsResponse[_SceneObjectOfRepositoryResourceData | _SceneObjectOfView3dData]),
    # msgspec has to know the values of a tag beforehand: an item with another value is read here.
    Decoder(_SceneObjectsResponse[_SceneObjectOfOtherShape]),
)


def _read_as_described(body: bytes) -> SceneObjectsResponse | None:
    """Read a response that is as described; None for any other."""
    for decoder in _DECODERS:
        try:
            values: Any = decoder.decode(body)
            return _make_scene_objects_response(values)
        except (ValueError, RecursionError):
            continue
    return None
