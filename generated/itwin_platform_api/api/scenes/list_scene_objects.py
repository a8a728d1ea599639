from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from ...client import AuthenticatedClient
from ...decoding import (
    MAKERS,
    blank,
    decode_datetime,
    decode_kind,
    decode_model,
)
from ...encoding import encode_parameters, encode_string
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
from ...structures import ResponseReader, list_of, made_of, optional, required, structure
from ...types import UNSET, Response, Unset

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
        path=ROUTE.format(
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
        read = _READER.read(response.content)
        return SceneObjectsResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
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

    Args:
        scene_id (str): Scene id. Inferred: a UUID, as the id of a scene is.
        itwin_id (str): Primary iTwin of the scene. Inferred: not empty. The iTwin id of a scene is a UUID;
            whether another string gets an error of its own is not documented.
        order_by (str | Unset): Optional. Default `kind`. Other allowed values: not documented.
        skip (int | Unset): Optional. Default 0. Inferred: not negative.
        top (int | Unset): Optional. Default 100. Max 100. Inferred: at least 1.
        x_correlation_id (str | Unset): Optional. Activity id for tracking the request.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.

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


def _make_scene_object(values: Any) -> SceneObject:
    model = blank(SceneObject)
    model.additional_properties = {}
    model.id = values.id
    model.version = values.version
    model.scene_id = values.scene_id
    model.created_by_id = values.created_by_id
    value = values.creation_time
    model.creation_time = decode_datetime(value) if value else value
    value = values.last_modified
    model.last_modified = decode_datetime(value) if value else value
    model.display_name = values.display_name
    model.order = values.order
    model.visible = values.visible
    model.parent_id = values.parent_id
    model.related_id = values.related_id
    return model


def _make_scene_object_of_repository_resource_data(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = "RepositoryResource"
    model.data = values.data
    return model


def _make_scene_object_of_view3d_data(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = "View3d"
    model.data = values.data
    return model


def _make_scene_object_of_other_shape(values: Any) -> SceneObject:
    model = _make_scene_object(values)
    model.kind = values.kind
    model.data = decode_kind(_SHAPES, values.kind, values.data)
    return model


_SHAPES = {
    "RepositoryResource": RepositoryResourceData.from_dict,
    "View3d": View3dData.from_dict,
}


def _make_scene_objects_response(values: Any) -> SceneObjectsResponse:
    fit(EXPECTED["sceneContext"], values.scene_context)
    model = blank(SceneObjectsResponse)
    model.additional_properties = {}
    model.objects = [MAKERS[item.__class__](item) for item in values.objects]
    model.scene_context = decode_model(SceneContext.from_dict, values.scene_context)
    model.links = decode_model(PagingLinks.from_dict, values.links)
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
        optional("scene_id", str | None, "sceneId"),
        optional("created_by_id", str | None, "createdById"),
        optional("creation_time", str | None, "creationTime"),
        optional("last_modified", str | None, "lastModified"),
        optional("display_name", str | None, "displayName"),
        optional("order", int | float | None, "order"),
        optional("visible", bool | None, "visible"),
        optional("parent_id", str | None, "parentId"),
        optional("related_id", str | None, "relatedId"),
    ]
    other = [
        *fields,
        optional("kind", str | None, "kind"),
        optional("data", Any, "data"),
    ]
    scene_object_ = (
        structure(
            _make_scene_object_of_repository_resource_data,
            [
                *fields,
                optional("data", repository_resource_data_ | None, "data"),
            ],
            unknown,
            tag=("kind", "RepositoryResource"),
        )
        | structure(
            _make_scene_object_of_view3d_data,
            [
                *fields,
                optional("data", view3d_data_ | None, "data"),
            ],
            unknown,
            tag=("kind", "View3d"),
        ),
        # msgspec has to know the values of a tag beforehand: an item with another value is read here.
        structure(_make_scene_object_of_other_shape, other, unknown),
    )
    for item in scene_object_:
        item = structure(
            _make_scene_objects_response,
            [
                required("objects", list_of(item), "objects"),
                optional("scene_context", Any, "sceneContext"),
                optional("links", Any, "_links"),
            ],
            unknown,
        )
        yield item


_READER = ResponseReader[SceneObjectsResponse](_structures)
