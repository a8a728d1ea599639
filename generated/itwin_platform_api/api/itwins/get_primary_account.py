from typing import Any

from ...client import AuthenticatedClient
from ...errors import decode_error, read_object
from ...models.primary_account_response import PrimaryAccountResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...types import (
    Response,
    encode_parameters,
)

METHOD: str = "GET"
ROUTE: str = "/itwins/myprimaryaccount"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "iTwin": {
        "id": "string",
        "class": "string",
        "subClass": "string",
        "type": "string",
        "number": "string",
        "displayName": "string",
        "status": "string",
    }
}
#: What the document says of each argument.
RULES: dict[str, Rule] = {}


def build_request(
    *,
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
                "accept": accept,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path="/itwins/myprimaryaccount",
        query={},
        headers=encode_parameters(
            {
                "Accept": accept,
            }
        ),
    )


def parse_response(response: Received) -> PrimaryAccountResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        return PrimaryAccountResponse.from_dict(read_object(response, EXPECTED))
    raise decode_error(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[PrimaryAccountResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the response as well."""

    response = await send(
        client.get_async_httpx_client(),
        build_request(
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
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> PrimaryAccountResponse:
    """Get primary account

    Gets the caller's primary Account. It is where new iTwins go by default. Members of an organization get its
    primary Account, and find its other Accounts by listing iTwins with `subClass=Account`. For everybody else the
    service creates one Account.

    Authorization: access token with scope `itwin-platform`. Any authenticated user.

    Args:
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: a success that cannot be read.
    """

    return (
        await asyncio_detailed(
            client=client,
            accept=accept,
        )
    ).parsed
