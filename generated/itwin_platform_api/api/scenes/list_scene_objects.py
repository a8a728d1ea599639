from urllib.parse import quote

from ...client import AuthenticatedClient
from ...encoding import encode_parameters, encode_string
from ...models.scene_objects_response import SceneObjectsResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
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
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "scene_id": Rule(
        "scene_id",
        "string",
        required=True,
        pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
    ),
    "itwin_id": Rule("itwin_id", "string", required=True, least=1),
    "order_by": Rule("order_by", "string", least=1),
    "skip": Rule("skip", "integer", least=0),
    "top": Rule("page_size", "integer", least=1, most=100),
    "x_correlation_id": Rule("correlation_id", "string"),
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
    """Return the request as values, without sending it.

    The other arguments are those of `asyncio`.

    Args:
        reject: returns the error for an argument that breaks a rule of the document. By default, nothing is checked.
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
        METHOD,
        ROUTE,
        ROUTE.format(scene_id=quote(encode_string(scene_id), safe="")),
        encode_parameters({"iTwinId": itwin_id, "orderBy": order_by, "$skip": skip, "$top": top}),
        encode_parameters({"x-correlation-id": x_correlation_id, "Accept": accept}),
    )


_SCENE_OBJECTS_RESPONSE = ResponseReader(SceneObjectsResponse)


def parse_response(response: Received) -> SceneObjectsResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _SCENE_OBJECTS_RESPONSE.read(response)


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
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(
        scene_id=scene_id,
        itwin_id=itwin_id,
        order_by=order_by,
        skip=skip,
        top=top,
        x_correlation_id=x_correlation_id,
        accept=accept,
    )
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


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
        order_by (str | Unset): Optional. Default `kind`. Other allowed values: not documented. Inferred: not
            empty.
        skip (int | Unset): Optional. Default 0. Inferred: not negative.
        top (int | Unset): Optional. Default 100. Max 100. Inferred: at least 1.
        x_correlation_id (str | Unset): Optional. Activity id for tracking the request.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(
        client=client,
        scene_id=scene_id,
        itwin_id=itwin_id,
        order_by=order_by,
        skip=skip,
        top=top,
        x_correlation_id=x_correlation_id,
        accept=accept,
    )
    return response.parsed
