from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from ...client import AuthenticatedClient
from ...decoding import (
    blank,
    decode_model,
    decode_one_of,
)
from ...encoding import encode_parameters, encode_string, fields_of
from ...errors import decode_error, read_object
from ...expected import fit
from ...models.capability_link import CapabilityLink
from ...models.query_parameters import QueryParameters
from ...models.repository import Repository
from ...models.repository_capabilities import RepositoryCapabilities
from ...models.repository_class import RepositoryClass
from ...models.repository_response import RepositoryResponse
from ...models.repository_sub_class import RepositorySubClass
from ...models.repository_update import RepositoryUpdate
from ...models.stored_basic_authentication import StoredBasicAuthentication
from ...models.stored_header_authentication import StoredHeaderAuthentication
from ...models.stored_oauth2_authorization_code_pkce_authentication import (
    StoredOAuth2AuthorizationCodePKCEAuthentication,
)
from ...models.stored_query_parameter_authentication import StoredQueryParameterAuthentication
from ...models.stored_repository_options import StoredRepositoryOptions
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader, made_of, optional, structure
from ...types import Response

METHOD: str = "PATCH"
ROUTE: str = "/itwins/{itwin_id}/repositories/{repository_id}"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "repository": {
        "id": "string",
        "class": "string",
        "subClass": "string",
        "displayName": "string",
        "uri": "string",
        "capabilities": {"resources": {"uri": "string"}},
        "authentication": (
            {
                "Header": {"type": "string", "key": "string", "value": "string"},
                "QueryParameter": {"type": "string", "key": "string", "value": "string"},
                "Basic": {"type": "string", "username": "string", "password": "string"},
                "OAuth2AuthorizationCodePKCE": {
                    "type": "string",
                    "clientId": "string",
                    "scopes": "string",
                    "authorizationEndpoint": "string",
                    "tokenEndpoint": "string",
                    "redirectUri": "string",
                },
            },
        ),
        "options": {"queryParameters": {}, "minimumLevel": "number", "maximumLevel": "number"},
    }
}
#: What the document says of each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        argument="",
        kind="object",
        required=True,
        code="InvalidiTwinsRequest",
        properties={
            "displayName": Rule(
                argument="display_name", kind="string", least=1, most=200, code="InvalidValue", target="displayName"
            ),
            "uri": Rule(argument="uri", kind="string", least=1, most=2000, code="InvalidValue", target="uri"),
            "authentication": Rule(
                argument="authentication",
                kind="object",
                nullable=True,
                code="InvalidiTwinsRequest",
                forms={
                    "Header": Rule(
                        argument="",
                        kind="object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule(argument="type", kind="string", required=True, code="InvalidiTwinsRequest"),
                            "key": Rule(
                                argument="key", kind="string", required=True, code="InvalidValue", target="key"
                            ),
                            "value": Rule(
                                argument="value", kind="string", required=True, code="InvalidValue", target="value"
                            ),
                        },
                        complete="HeaderAuthentication",
                    ),
                    "QueryParameter": Rule(
                        argument="",
                        kind="object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule(argument="type", kind="string", required=True, code="InvalidiTwinsRequest"),
                            "key": Rule(
                                argument="key", kind="string", required=True, code="InvalidValue", target="key"
                            ),
                            "value": Rule(
                                argument="value", kind="string", required=True, code="InvalidValue", target="value"
                            ),
                        },
                        complete="QueryParameterAuthentication",
                    ),
                    "Basic": Rule(
                        argument="",
                        kind="object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule(argument="type", kind="string", required=True, code="InvalidiTwinsRequest"),
                            "username": Rule(
                                argument="username",
                                kind="string",
                                required=True,
                                code="InvalidValue",
                                target="username",
                            ),
                            "password": Rule(
                                argument="password",
                                kind="string",
                                required=True,
                                code="InvalidValue",
                                target="password",
                            ),
                        },
                        complete="BasicAuthentication",
                    ),
                    "OAuth2AuthorizationCodePKCE": Rule(
                        argument="",
                        kind="object",
                        code="InvalidiTwinsRequest",
                        properties={
                            "type": Rule(argument="type", kind="string", required=True, code="InvalidiTwinsRequest"),
                            "clientId": Rule(
                                argument="client_id", kind="string", required=True, code="InvalidiTwinsRequest"
                            ),
                            "scopes": Rule(
                                argument="scopes", kind="string", required=True, code="InvalidiTwinsRequest"
                            ),
                            "authorizationEndpoint": Rule(
                                argument="authorization_endpoint",
                                kind="string",
                                required=True,
                                code="InvalidiTwinsRequest",
                            ),
                            "tokenEndpoint": Rule(
                                argument="token_endpoint", kind="string", required=True, code="InvalidiTwinsRequest"
                            ),
                            "redirectUri": Rule(
                                argument="redirect_uri", kind="string", required=True, code="InvalidiTwinsRequest"
                            ),
                        },
                        complete="OAuth2AuthorizationCodePKCEAuthentication",
                    ),
                },
            ),
            "options": Rule(
                argument="options",
                kind="object",
                nullable=True,
                code="InvalidValue",
                target="options",
                properties={
                    "queryParameters": Rule(
                        argument="query_parameters", kind="object", code="InvalidValue", target="options"
                    ),
                    "minimumLevel": Rule(
                        argument="minimum_level",
                        kind="integer",
                        least=0,
                        most=24,
                        code="InvalidValue",
                        target="minimumlevel",
                    ),
                    "maximumLevel": Rule(
                        argument="maximum_level",
                        kind="integer",
                        least=0,
                        most=24,
                        code="InvalidValue",
                        target="maximumlevel",
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
                "repository_id": repository_id,
                "accept": accept,
                "body": fields,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path=ROUTE.format(
            itwin_id=quote(encode_string(itwin_id), safe=""),
            repository_id=quote(encode_string(repository_id), safe=""),
        ),
        query={},
        headers=encode_parameters(
            {
                "Accept": accept,
            }
        ),
        body=fields,
        given=body,
    )


def parse_response(response: Received) -> RepositoryResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _READER.read(response.content)
        return RepositoryResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
    raise decode_error(response)


async def asyncio_detailed(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: RepositoryUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[RepositoryResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the response as well."""

    response = await send(
        client.get_async_httpx_client(),
        build_request(
            itwin_id=itwin_id,
            repository_id=repository_id,
            body=body,
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
        errors.ResponseDecodeError, or what the client in use raises instead: a success that cannot be read.
    """

    return (
        await asyncio_detailed(
            itwin_id=itwin_id,
            repository_id=repository_id,
            client=client,
            body=body,
            accept=accept,
        )
    ).parsed


def _make_capability_link(values: Any) -> CapabilityLink:
    model = blank(CapabilityLink)
    model.additional_properties = {}
    model.uri = values.uri
    return model


def _make_repository_capabilities(values: Any) -> RepositoryCapabilities:
    model = blank(RepositoryCapabilities)
    model.additional_properties = {}
    model.resources = made_of(values.resources)
    return model


def _make_stored_repository_options(values: Any) -> StoredRepositoryOptions:
    fit(EXPECTED["repository"]["options"]["queryParameters"], values.query_parameters)
    model = blank(StoredRepositoryOptions)
    model.additional_properties = {}
    model.query_parameters = decode_model(QueryParameters.from_dict, values.query_parameters)
    model.minimum_level = values.minimum_level
    model.maximum_level = values.maximum_level
    return model


def _make_repository(values: Any) -> Repository:
    fit(EXPECTED["repository"]["authentication"], values.authentication)
    model = blank(Repository)
    model.additional_properties = {}
    model.id = values.id
    model.class_ = values.class_
    model.sub_class = values.sub_class
    model.display_name = values.display_name
    model.uri = values.uri
    model.capabilities = made_of(values.capabilities)
    model.authentication = decode_one_of(
        (
            StoredHeaderAuthentication,
            StoredQueryParameterAuthentication,
            StoredBasicAuthentication,
            StoredOAuth2AuthorizationCodePKCEAuthentication,
        ),
        values.authentication,
    )
    model.options = made_of(values.options)
    return model


def _make_repository_response(values: Any) -> RepositoryResponse:
    model = blank(RepositoryResponse)
    model.additional_properties = {}
    model.repository = made_of(values.repository)
    return model


def _structures(unknown: Iterable[str]) -> Iterable[Any]:
    fields = [
        optional("uri", str | None, "uri"),
    ]
    capability_link_ = structure(_make_capability_link, fields, unknown)
    fields = [
        optional("resources", capability_link_ | None, "resources"),
    ]
    repository_capabilities_ = structure(_make_repository_capabilities, fields, unknown)
    fields = [
        optional("query_parameters", Any, "queryParameters"),
        optional("minimum_level", int | float | None, "minimumLevel"),
        optional("maximum_level", int | float | None, "maximumLevel"),
    ]
    stored_repository_options_ = structure(_make_stored_repository_options, fields, unknown)
    fields = [
        optional("id", str | None, "id"),
        optional("class_", RepositoryClass | None, "class"),
        optional("sub_class", RepositorySubClass | None, "subClass"),
        optional("display_name", str | None, "displayName"),
        optional("uri", str | None, "uri"),
        optional("capabilities", repository_capabilities_ | None, "capabilities"),
        optional("authentication", Any, "authentication"),
        optional("options", stored_repository_options_ | None, "options"),
    ]
    repository_ = structure(_make_repository, fields, unknown)
    fields = [
        optional("repository", repository_ | None, "repository"),
    ]
    repository_response_ = structure(_make_repository_response, fields, unknown)
    for item in [repository_response_]:
        yield item


_READER = ResponseReader[RepositoryResponse](_structures)
