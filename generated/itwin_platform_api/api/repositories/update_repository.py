from urllib.parse import quote

from ...client import AuthenticatedClient
from ...encoding import encode_parameters, encode_string, fields_of
from ...models.repository_response import RepositoryResponse
from ...models.repository_update import RepositoryUpdate
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import Response

METHOD: str = "PATCH"
ROUTE: str = "/itwins/{itwin_id}/repositories/{repository_id}"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        "",
        "object",
        required=True,
        code="InvalidiTwinsRequest",
        properties={
            "displayName": Rule("display_name", "string", least=1, most=200, code="InvalidValue", target="displayName"),
            "uri": Rule("uri", "string", least=1, most=2000, code="InvalidValue", target="uri"),
            "authentication": Rule(
                "authentication",
                "object",
                nullable=True,
                code="InvalidiTwinsRequest",
                forms={
                    "Header": Rule(
                        "",
                        "object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule("type", "string", required=True, code="InvalidiTwinsRequest"),
                            "key": Rule("key", "string", required=True, code="InvalidValue", target="key"),
                            "value": Rule("value", "string", required=True, code="InvalidValue", target="value"),
                        },
                        complete="HeaderAuthentication",
                    ),
                    "QueryParameter": Rule(
                        "",
                        "object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule("type", "string", required=True, code="InvalidiTwinsRequest"),
                            "key": Rule("key", "string", required=True, code="InvalidValue", target="key"),
                            "value": Rule("value", "string", required=True, code="InvalidValue", target="value"),
                        },
                        complete="QueryParameterAuthentication",
                    ),
                    "Basic": Rule(
                        "",
                        "object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule("type", "string", required=True, code="InvalidiTwinsRequest"),
                            "username": Rule(
                                "username", "string", required=True, code="InvalidValue", target="username"
                            ),
                            "password": Rule(
                                "password", "string", required=True, code="InvalidValue", target="password"
                            ),
                        },
                        complete="BasicAuthentication",
                    ),
                    "OAuth2AuthorizationCodePKCE": Rule(
                        "",
                        "object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule("type", "string", required=True, code="InvalidiTwinsRequest"),
                            "clientId": Rule("client_id", "string", required=True, code="InvalidiTwinsRequest"),
                            "scopes": Rule("scopes", "string", required=True, code="InvalidiTwinsRequest"),
                            "authorizationEndpoint": Rule(
                                "authorization_endpoint", "string", required=True, code="InvalidiTwinsRequest"
                            ),
                            "tokenEndpoint": Rule(
                                "token_endpoint", "string", required=True, code="InvalidiTwinsRequest"
                            ),
                            "redirectUri": Rule("redirect_uri", "string", required=True, code="InvalidiTwinsRequest"),
                        },
                        complete="OAuth2AuthorizationCodePKCEAuthentication",
                    ),
                },
            ),
            "options": Rule(
                "options",
                "object",
                nullable=True,
                code="InvalidValue",
                target="options",
                properties={
                    "queryParameters": Rule("query_parameters", "object", code="InvalidValue", target="options"),
                    "minimumLevel": Rule(
                        "minimum_level", "integer", least=0, most=24, code="InvalidValue", target="minimumlevel"
                    ),
                    "maximumLevel": Rule(
                        "maximum_level", "integer", least=0, most=24, code="InvalidValue", target="maximumlevel"
                    ),
                },
                complete="RepositoryOptions",
            ),
        },
    )
}


def build_request(
    itwin_id: str,
    repository_id: str,
    *,
    body: RepositoryUpdate,
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


_REPOSITORY_RESPONSE = ResponseReader(RepositoryResponse)


def parse_response(response: Received) -> RepositoryResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _REPOSITORY_RESPONSE.read(response)


async def asyncio_detailed(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: RepositoryUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[RepositoryResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(body=body, itwin_id=itwin_id, repository_id=repository_id, accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


async def asyncio(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: RepositoryUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> RepositoryResponse:
    """Update repository

    Technical Preview: for testing only, not for production use; may change.

    Updates a repository of an iTwin. Rules:

    1. A property that is not in the body stays as it is.
    2. null removes `authentication` or `options`.
    3. `uri` and `displayName` cannot be set to null.
    4. `class`, `subClass` and `id` cannot be changed.
    5. `authentication` and `options` replace the stored object. The service merges nothing: send all
       properties of the object, not `password` or `queryParameters` alone.
    6. Read-only fields must not be included.

    Repositories that can be updated (class: subclasses):

    - GeographicInformationSystem: WebMapService, WebMapTileService, WebFeatureService, ArcGIS,
      UrlTemplate, OgcApiFeatures
    - Construction: Performance
    - Subsurface: EvoWorkspace

    Authorization: access token with scope `itwin-platform`. The caller needs the
    `itwins_modify` permission on the iTwin. Organization Administrators have it for all iTwins of their
    organization.

    Args:
        itwin_id (str): iTwin id.
        repository_id (str): Repository id.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.
        body (RepositoryUpdate): Body of update repository (`iTwin-repository-update`), all properties optional.
            Only properties present are changed. `class`, `subClass` and `id` cannot be changed, and read-only fields
            must not be included. Inferred: `capabilities` is read-only.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(
        client=client, body=body, itwin_id=itwin_id, repository_id=repository_id, accept=accept
    )
    return response.parsed
