from collections.abc import Iterable
from typing import Any

from ...client import AuthenticatedClient
from ...decoding import (
    blank,
)
from ...encoding import encode_parameters
from ...errors import decode_error, read_object
from ...models.itwin_class import ITwinClass
from ...models.itwin_status import ITwinStatus
from ...models.itwin_sub_class import ITwinSubClass
from ...models.itwin_summary import ITwinSummary
from ...models.primary_account_response import PrimaryAccountResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader, made_of, optional, structure
from ...types import Response

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
        path=ROUTE,
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
        read = _READER.read(response.content)
        return PrimaryAccountResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
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


def _make_itwin_summary(values: Any) -> ITwinSummary:
    model = blank(ITwinSummary)
    model.additional_properties = {}
    model.id = values.id
    model.class_ = values.class_
    model.sub_class = values.sub_class
    model.type_ = values.type_
    model.number = values.number
    model.display_name = values.display_name
    model.status = values.status
    return model


def _make_primary_account_response(values: Any) -> PrimaryAccountResponse:
    model = blank(PrimaryAccountResponse)
    model.additional_properties = {}
    model.itwin = made_of(values.itwin)
    return model


def _structures(unknown: Iterable[str]) -> Iterable[Any]:
    fields = [
        optional("id", str | None, "id"),
        optional("class_", ITwinClass | None, "class"),
        optional("sub_class", ITwinSubClass | None, "subClass"),
        optional("type_", str | None, "type"),
        optional("number", str | None, "number"),
        optional("display_name", str | None, "displayName"),
        optional("status", ITwinStatus | None, "status"),
    ]
    itwin_summary_ = structure(_make_itwin_summary, fields, unknown)
    fields = [
        optional("itwin", itwin_summary_ | None, "iTwin"),
    ]
    primary_account_response_ = structure(_make_primary_account_response, fields, unknown)
    for item in [primary_account_response_]:
        yield item


_READER = ResponseReader[PrimaryAccountResponse](_structures)
