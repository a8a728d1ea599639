from urllib.parse import quote

from ...client import AuthenticatedClient
from ...encoding import encode_parameters, encode_string, fields_of
from ...models.resource_create import ResourceCreate
from ...models.resource_response import ResourceResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import Response

METHOD: str = "POST"
ROUTE: str = "/itwins/{itwin_id}/repositories/{repository_id}/resources"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        "",
        "object",
        required=True,
        code="InvalidiTwinsRequest",
        properties={
            "id": Rule(
                "id",
                "string",
                required=True,
                least=1,
                most=200,
                code="InvalidValue",
                target="id",
                missing_code="MissingRequiredProperty",
            ),
            "type": Rule(
                "type",
                "string",
                least=1,
                most=100,
                code="InvalidValue",
                target="type",
                missing_code="MissingRequiredProperty",
            ),
            "displayName": Rule(
                "display_name",
                "string",
                required=True,
                least=1,
                most=200,
                code="InvalidValue",
                target="displayName",
                missing_code="MissingRequiredProperty",
            ),
        },
    )
}


def build_request(
    itwin_id: str,
    repository_id: str,
    *,
    body: ResourceCreate,
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
        check(RULES, {"itwin_id": itwin_id, "repository_id": repository_id, "accept": accept, "body": fields}, reject)
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE.format(
            itwin_id=quote(encode_string(itwin_id), safe=""), repository_id=quote(encode_string(repository_id), safe="")
        ),
        {},
        encode_parameters({"Accept": accept}),
        fields,
        body,
    )


_RESOURCE_RESPONSE = ResponseReader(ResourceResponse)


def parse_response(response: Received) -> ResourceResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _RESOURCE_RESPONSE.read(response)


async def asyncio_detailed(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: ResourceCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[ResourceResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(body=body, itwin_id=itwin_id, repository_id=repository_id, accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


async def asyncio(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: ResourceCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> ResourceResponse:
    """Create repository resource

    Technical Preview: for testing only, not for production use; may change.

    Adds a resource, such as a map layer, to a GeographicInformationSystem repository. It marks the resource as
    relevant to the iTwin. The resource takes `class` and `subClass` from its repository.

    Authorization: access token with scope `itwin-platform`. The caller needs the
    `itwins_modify` permission on the iTwin. Organization Administrators have it for all iTwins of their
    organization.

    Args:
        itwin_id (str): iTwin id.
        repository_id (str): Repository id.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.
        body (ResourceCreate): Body of create repository resource (`iTwin-repository-resource-create`). The
            resource takes `class` and `subClass` from its repository.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(
        client=client, body=body, itwin_id=itwin_id, repository_id=repository_id, accept=accept
    )
    return response.parsed
