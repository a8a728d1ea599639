from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient
from ...errors import decode_error
from ...models.scene_objects_response import SceneObjectsResponse
from ...request import RequestValues, send
from ...types import (
    UNSET,
    Response,
    Unset,
    encode_parameters,
)


def build_request(
    scene_id: str,
    *,
    itwin_id: str,
    order_by: str | Unset = UNSET,
    skip: int | Unset = UNSET,
    top: int | Unset = UNSET,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> RequestValues:
    """Return the request as values; nothing is sent. The arguments are those of `asyncio`."""

    return RequestValues(
        method="GET",
        route="/scenes/{scene_id}/objects",
        path="/scenes/{scene_id}/objects".format(
            scene_id=quote(str(scene_id), safe=""),
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


def parse_response(response: httpx.Response) -> SceneObjectsResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        try:
            body: Any = response.json()
        except (ValueError, RecursionError) as error:
            raise decode_error(response) from error
        if not isinstance(body, dict):
            raise decode_error(response)
        return SceneObjectsResponse.from_dict(body)
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
