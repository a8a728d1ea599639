from ...client import AuthenticatedClient
from ...encoding import encode_parameters
from ...models.itwin_status import ITwinStatus
from ...models.itwin_sub_class import ITwinSubClass
from ...models.itwins_response import ITwinsResponse
from ...models.preferred_return import PreferredReturn
from ...models.query_scope import QueryScope
from ...request import Received, RequestValues, send
from ...rules import Excludes, Reject, Rule, check
from ...structures import ResponseReader
from ...types import UNSET, Response, Unset

QUERY_PARAMETERS = frozenset(
    (
        "subClass",
        "status",
        "type",
        "number",
        "displayName",
        "parentId",
        "iTwinAccountId",
        "$search",
        "$select",
        "$filter",
        "$orderby",
        "$top",
        "$skip",
        "includeInactive",
    )
)
METHOD: str = "GET"
ROUTE: str = "/itwins/"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "sub_class": Rule(
        "sub_class",
        "array",
        least=1,
        code="InvalidValue",
        target="subClass",
        items=Rule("", "string", least=1, code="InvalidValue", target="subClass"),
    ),
    "status": Rule("status", "string", least=1, code="InvalidValue", target="status"),
    "type_": Rule("type", "string", least=1, code="InvalidiTwinsRequest"),
    "number": Rule("number", "string", least=1, code="InvalidiTwinsRequest"),
    "display_name": Rule("display_name", "string", least=1, code="InvalidiTwinsRequest"),
    "parent_id": Rule("parent_id", "string", least=1, code="InvalidiTwinsRequest"),
    "itwin_account_id": Rule("itwin_account_id", "string", least=1, code="InvalidiTwinsRequest"),
    "search": Rule(
        "search",
        "string",
        least=1,
        code="InvalidiTwinsRequest",
        excludes=Excludes({"number": "number", "display_name": "display_name"}, "InvalidParameter", "$search"),
    ),
    "select": Rule(
        "select",
        "array",
        least=1,
        code="InvalidValue",
        target="$select",
        items=Rule("", "string", least=1, code="InvalidValue", target="$select"),
    ),
    "filter_": Rule(
        "filter",
        "string",
        least=1,
        code="InvalidiTwinsRequest",
        excludes=Excludes(
            {
                "status": "status",
                "type_": "type",
                "number": "number",
                "display_name": "display_name",
                "parent_id": "parent_id",
                "itwin_account_id": "itwin_account_id",
                "search": "search",
            },
            "InvalidParameter",
            "$filter",
        ),
    ),
    "orderby": Rule("order_by", "string", least=1, code="InvalidValue", target="$orderby"),
    "top": Rule("page_size", "integer", least=1, most=1000, code="InvalidValue", target="$top"),
    "skip": Rule("skip", "integer", least=0, code="InvalidValue", target="$skip"),
    "include_inactive": Rule(
        "include_inactive",
        "boolean",
        code="InvalidiTwinsRequest",
        excludes=Excludes({"status": "status"}, "InvalidParameter", "includeInactive"),
    ),
    "x_max_return": Rule(
        "max_return", "integer", least=1, most=10000, code="InvalidHeaderValue", target="X-Max-Return"
    ),
    "x_itwin_query_scope": Rule(
        "query_scope", "string", least=1, code="InvalidHeaderValue", target="X-iTwin-Create-Scope"
    ),
    "prefer": Rule("representation", "string", least=1, code="InvalidiTwinsRequest"),
}


def build_request(
    *,
    sub_class: list[ITwinSubClass] | Unset = UNSET,
    status: ITwinStatus | Unset = UNSET,
    type_: str | Unset = UNSET,
    number: str | Unset = UNSET,
    display_name: str | Unset = UNSET,
    parent_id: str | Unset = UNSET,
    itwin_account_id: str | Unset = UNSET,
    search: str | Unset = UNSET,
    select: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    orderby: str | Unset = UNSET,
    top: int | Unset = UNSET,
    skip: int | Unset = UNSET,
    include_inactive: bool | Unset = UNSET,
    x_max_return: int | Unset = UNSET,
    x_itwin_query_scope: QueryScope | Unset = UNSET,
    prefer: PreferredReturn | Unset = UNSET,
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
                "sub_class": sub_class,
                "status": status,
                "type_": type_,
                "number": number,
                "display_name": display_name,
                "parent_id": parent_id,
                "itwin_account_id": itwin_account_id,
                "search": search,
                "select": select,
                "filter_": filter_,
                "orderby": orderby,
                "top": top,
                "skip": skip,
                "include_inactive": include_inactive,
                "x_max_return": x_max_return,
                "x_itwin_query_scope": x_itwin_query_scope,
                "prefer": prefer,
                "accept": accept,
            },
            reject,
        )
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE,
        encode_parameters(
            {
                "subClass": sub_class,
                "status": status,
                "type": type_,
                "number": number,
                "displayName": display_name,
                "parentId": parent_id,
                "iTwinAccountId": itwin_account_id,
                "$search": search,
                "$select": select,
                "$filter": filter_,
                "$orderby": orderby,
                "$top": top,
                "$skip": skip,
                "includeInactive": include_inactive,
            }
        ),
        encode_parameters(
            {
                "X-Max-Return": x_max_return,
                "X-iTwin-Query-Scope": x_itwin_query_scope,
                "Prefer": prefer,
                "Accept": accept,
            }
        ),
    )


_ITWINS_RESPONSE = ResponseReader(ITwinsResponse)


def parse_response(response: Received) -> ITwinsResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _ITWINS_RESPONSE.read(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    sub_class: list[ITwinSubClass] | Unset = UNSET,
    status: ITwinStatus | Unset = UNSET,
    type_: str | Unset = UNSET,
    number: str | Unset = UNSET,
    display_name: str | Unset = UNSET,
    parent_id: str | Unset = UNSET,
    itwin_account_id: str | Unset = UNSET,
    search: str | Unset = UNSET,
    select: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    orderby: str | Unset = UNSET,
    top: int | Unset = UNSET,
    skip: int | Unset = UNSET,
    include_inactive: bool | Unset = UNSET,
    x_max_return: int | Unset = UNSET,
    x_itwin_query_scope: QueryScope | Unset = UNSET,
    prefer: PreferredReturn | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> Response[ITwinsResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(
        sub_class=sub_class,
        status=status,
        type_=type_,
        number=number,
        display_name=display_name,
        parent_id=parent_id,
        itwin_account_id=itwin_account_id,
        search=search,
        select=select,
        filter_=filter_,
        orderby=orderby,
        top=top,
        skip=skip,
        include_inactive=include_inactive,
        x_max_return=x_max_return,
        x_itwin_query_scope=x_itwin_query_scope,
        prefer=prefer,
        accept=accept,
    )
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


async def asyncio(
    *,
    client: AuthenticatedClient,
    sub_class: list[ITwinSubClass] | Unset = UNSET,
    status: ITwinStatus | Unset = UNSET,
    type_: str | Unset = UNSET,
    number: str | Unset = UNSET,
    display_name: str | Unset = UNSET,
    parent_id: str | Unset = UNSET,
    itwin_account_id: str | Unset = UNSET,
    search: str | Unset = UNSET,
    select: list[str] | Unset = UNSET,
    filter_: str | Unset = UNSET,
    orderby: str | Unset = UNSET,
    top: int | Unset = UNSET,
    skip: int | Unset = UNSET,
    include_inactive: bool | Unset = UNSET,
    x_max_return: int | Unset = UNSET,
    x_itwin_query_scope: QueryScope | Unset = UNSET,
    prefer: PreferredReturn | Unset = UNSET,
    accept: str = "application/vnd.{vendor}.itwin-platform.v1+json",
) -> ITwinsResponse:
    """List iTwins

    Lists the iTwins that the caller is a member of. Inactive iTwins are listed only with `status` or
    `includeInactive`.

    Parameters that exclude each other:

    - `$search` cannot be combined with `number` or `displayName`.
    - `includeInactive` cannot be combined with `status`.
    - `$filter` cannot be combined with `status`, `type`, `number`, `displayName`, `parentId`,
      `iTwinAccountId` or `$search`; only `subClass` may accompany it.

    When `$select` is given, the Prefer header is ignored.

    For more than 10000 iTwins, an exports operation exists; its details: not documented.

    Authorization: access token with scope `itwin-platform`. Any authenticated user; only
    iTwins the user is a member of are returned. `X-iTwin-Query-Scope: OrganizationAdmin` is for organization
    administrators.

    Args:
        sub_class (list[ITwinSubClass] | Unset): Optional. One or more iTwin SubClass values, separated by commas.
            Recommended: it makes queries faster. At least one value.
        status (ITwinStatus | Unset): iTwin Status. Default Active. Inactive iTwins are listed on request only.
            Transitions between statuses: not documented.
        type_ (str | Unset): Optional. Exact type. Cannot be combined with `$filter`. Inferred: not empty.
        number (str | Unset): Optional. Exact match. Cannot be combined with `$search` or `$filter`. Inferred: not
            empty.
        display_name (str | Unset): Optional. Exact match. Cannot be combined with `$search` or `$filter`.
            Inferred: not empty.
        parent_id (str | Unset): Optional. Children of the given iTwin. Cannot be combined with `$filter`.
            Inferred: not empty.
        itwin_account_id (str | Unset): Optional. iTwins owned by the given Account. Cannot be combined with
            `$filter`. Inferred: not empty.
        search (str | Unset): Optional. Substring match in number or displayName. Cannot be combined with
            `number`, `displayName` or `$filter`. Inferred: not empty.
        select (list[str] | Unset): Optional. Comma-delimited property names to return. When given, the Prefer
            header is ignored. Without it, the minimal representation is returned. Inferred: at least one name.
        filter_ (str | Unset): Optional. OData filter; text comparison is case insensitive. Operators: comparisons
            such as `ge` and `eq`, `and`, `or`, `contains(value, property)`, `startswith(value, property)`. Cannot be
            combined with `status`, `type`, `number`, `displayName`, `parentId`, `iTwinAccountId` or `$search`;
            `subClass` is allowed beside it. Inferred: what a combination gets. Inferred: not empty.
        orderby (str | Unset): Optional. Property name with optional direction, e.g. `displayName ASC`. Inferred:
            not empty, and the direction `DESC`.
        top (int | Unset): Optional. Page size. Default 100. Positive integer, max 1000.
        skip (int | Unset): Optional. Items to skip. Default 0. Non-negative integer.
        include_inactive (bool | Unset): Optional. Default false. true returns Active, Trial and Inactive iTwins.
            Cannot be combined with `status`.
        x_max_return (int | Unset): Optional. Maximum total number of iTwins returned across all pages. Default
            1000. Allowed 1 to 10000 (the message of the 422 detail says that the value must be below 10000). The
            response header of this name returns the value used. Pages beyond the limit are empty; they are no error.
            Not the same as `$top` (page size).
        x_itwin_query_scope (QueryScope | Unset): Values of the header X-iTwin-Query-Scope. `MemberOfiTwin`
            (default): iTwins the user is a member of. `OrganizationAdmin`: all iTwins of the organization, for
            organization administrators.
        prefer (PreferredReturn | Unset): Values of the header Prefer: the minimal or the full representation of
            an iTwin.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v1+json'.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(
        client=client,
        sub_class=sub_class,
        status=status,
        type_=type_,
        number=number,
        display_name=display_name,
        parent_id=parent_id,
        itwin_account_id=itwin_account_id,
        search=search,
        select=select,
        filter_=filter_,
        orderby=orderby,
        top=top,
        skip=skip,
        include_inactive=include_inactive,
        x_max_return=x_max_return,
        x_itwin_query_scope=x_itwin_query_scope,
        prefer=prefer,
        accept=accept,
    )
    return response.parsed
