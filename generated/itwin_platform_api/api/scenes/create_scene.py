from ...client import AuthenticatedClient
from ...encoding import encode_parameters, fields_of
from ...models.scene_create import SceneCreate
from ...models.scene_response import SceneResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import UNSET, Response, Unset

QUERY_PARAMETERS = frozenset(("iTwinId",))
METHOD: str = "POST"
ROUTE: str = "/scenes/"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "itwin_id": Rule("itwin_id", "string", required=True, least=1, code="InvalidScenesRequest"),
    "x_correlation_id": Rule("correlation_id", "string", code="InvalidScenesRequest"),
    "body": Rule(
        "",
        "object",
        required=True,
        code="InvalidScenesRequest",
        properties={
            "id": Rule(
                "id",
                "string",
                pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                code="InvalidScenesRequest",
            ),
            "displayName": Rule("display_name", "string", required=True, code="InvalidScenesRequest"),
            "description": Rule("description", "string", code="InvalidScenesRequest"),
            "parentId": Rule(
                "parent_id",
                "string",
                pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                code="InvalidRequestBody",
                target="parentId",
            ),
            "sceneData": Rule(
                "objects",
                "object",
                code="InvalidScenesRequest",
                properties={
                    "objects": Rule(
                        "",
                        "array",
                        most=100,
                        code="InvalidScenesRequest",
                        items=Rule(
                            "",
                            "object",
                            code="InvalidScenesRequest",
                            properties={
                                "id": Rule(
                                    "id",
                                    "string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "displayName": Rule("display_name", "string", code="InvalidScenesRequest"),
                                "order": Rule("order", "number", code="InvalidScenesRequest"),
                                "visible": Rule("visible", "boolean", code="InvalidScenesRequest"),
                                "version": Rule(
                                    "version",
                                    "string",
                                    required=True,
                                    pattern="^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$",
                                    form="a semantic version, such as 1.0.0",
                                    code="InvalidScenesRequest",
                                ),
                                "kind": Rule("kind", "string", required=True, code="InvalidScenesRequest"),
                                "parentId": Rule(
                                    "parent_id",
                                    "string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "relatedId": Rule(
                                    "related_id",
                                    "string",
                                    pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
                                    form="a UUID string, such as 6a2d2381-6c57-4332-b87a-5b7c00000000",
                                    code="InvalidScenesRequest",
                                ),
                                "data": Rule("data", "object", required=True, code="InvalidScenesRequest"),
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
    """Return the request as values, without sending it.

    The other arguments are those of `asyncio`.

    Args:
        reject: returns the error for an argument that breaks a rule of the document. By default, nothing is checked.
    """
    fields = fields_of(body)
    if reject is not None:
        check(
            RULES,
            {"itwin_id": itwin_id, "x_correlation_id": x_correlation_id, "accept": accept, "body": fields},
            reject,
        )
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE,
        encode_parameters({"iTwinId": itwin_id}),
        encode_parameters({"x-correlation-id": x_correlation_id, "Accept": accept}),
        fields,
        body,
    )


_SCENE_RESPONSE = ResponseReader(SceneResponse)


def parse_response(response: Received) -> SceneResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _SCENE_RESPONSE.read(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: SceneCreate,
    itwin_id: str,
    x_correlation_id: str | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[SceneResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(body=body, itwin_id=itwin_id, x_correlation_id=x_correlation_id, accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


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
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(
        client=client, body=body, itwin_id=itwin_id, x_correlation_id=x_correlation_id, accept=accept
    )
    return response.parsed
