from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from ...client import AuthenticatedClient
from ...decoding import (
    blank,
    decode_enum,
)
from ...encoding import encode_parameters, encode_string, fields_of
from ...errors import decode_error, read_object
from ...expected import fit
from ...models.capability_link import CapabilityLink
from ...models.resource import Resource
from ...models.resource_capabilities import ResourceCapabilities
from ...models.resource_class import ResourceClass
from ...models.resource_create import ResourceCreate
from ...models.resource_response import ResourceResponse
from ...models.resource_sub_class import ResourceSubClass
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader, made_of, optional, structure
from ...types import Response

METHOD: str = "POST"
ROUTE: str = "/itwins/{itwin_id}/repositories/{repository_id}/resources"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "resource": {
        "id": "string",
        "class": "string",
        "subClass": "string",
        "type": "string",
        "displayName": "string",
        "capabilities": {"graphics": {"uri": "string"}},
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
            "id": Rule(
                argument="id",
                kind="string",
                required=True,
                least=1,
                most=200,
                code="InvalidValue",
                target="id",
                missing_code="MissingRequiredProperty",
            ),
            "type": Rule(
                argument="type",
                kind="string",
                least=1,
                most=100,
                code="InvalidValue",
                target="type",
                missing_code="MissingRequiredProperty",
            ),
            "displayName": Rule(
                argument="display_name",
                kind="string",
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


def parse_response(response: Received) -> ResourceResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _READER.read(response.content)
        return ResourceResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
    raise decode_error(response)


async def asyncio_detailed(
    itwin_id: str,
    repository_id: str,
    *,
    client: AuthenticatedClient,
    body: ResourceCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[ResourceResponse]:
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


def _make_resource_capabilities(values: Any) -> ResourceCapabilities:
    model = blank(ResourceCapabilities)
    model.additional_properties = {}
    model.graphics = made_of(values.graphics)
    return model


def _make_resource(values: Any) -> Resource:
    fit(EXPECTED["resource"]["subClass"], values.sub_class)
    model = blank(Resource)
    model.additional_properties = {}
    model.id = values.id
    model.class_ = values.class_
    model.display_name = values.display_name
    model.capabilities = made_of(values.capabilities)
    model.sub_class = decode_enum(ResourceSubClass, values.sub_class)
    model.type_ = values.type_
    return model


def _make_resource_response(values: Any) -> ResourceResponse:
    model = blank(ResourceResponse)
    model.additional_properties = {}
    model.resource = made_of(values.resource)
    return model


def _structures(unknown: Iterable[str]) -> Iterable[Any]:
    fields = [
        optional("uri", str | None, "uri"),
    ]
    capability_link_ = structure(_make_capability_link, fields, unknown)
    fields = [
        optional("graphics", capability_link_ | None, "graphics"),
    ]
    resource_capabilities_ = structure(_make_resource_capabilities, fields, unknown)
    fields = [
        optional("id", str | None, "id"),
        optional("class_", ResourceClass | None, "class"),
        optional("display_name", str | None, "displayName"),
        optional("capabilities", resource_capabilities_ | None, "capabilities"),
        optional("sub_class", Any, "subClass"),
        optional("type_", str | None, "type"),
    ]
    resource_ = structure(_make_resource, fields, unknown)
    fields = [
        optional("resource", resource_ | None, "resource"),
    ]
    resource_response_ = structure(_make_resource_response, fields, unknown)
    for item in [resource_response_]:
        yield item


_READER = ResponseReader[ResourceResponse](_structures)
