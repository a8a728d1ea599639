from ...client import AuthenticatedClient
from ...encoding import encode_parameters
from ...models.primary_account_response import PrimaryAccountResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import Response

METHOD: str = "GET"
ROUTE: str = "/itwins/myprimaryaccount"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {}


def build_request(
    *,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
    reject: Reject | None = None,
) -> RequestValues:
    """Return the request as values, without sending it.

    The other arguments are those of `asyncio`.

    Args:
        reject: returns the error for an argument that breaks a rule of the document. By default, nothing is checked.
    """
    if reject is not None:
        check(RULES, {"accept": accept}, reject)
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE,
        {},
        encode_parameters({"Accept": accept}),
    )


_PRIMARY_ACCOUNT_RESPONSE = ResponseReader(PrimaryAccountResponse)


def parse_response(response: Received) -> PrimaryAccountResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _PRIMARY_ACCOUNT_RESPONSE.read(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[PrimaryAccountResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


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
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(client=client, accept=accept)
    return response.parsed
