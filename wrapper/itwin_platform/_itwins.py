"""iTwins: containers organised in a hierarchy. Source: sections 1, 2.5, 4.3 and 4.4."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from ._api import (
    UNSET,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    QueryScope,
    Unset,
    get_primary_account,
    list_itwins,
)
from ._checks import check_exclusive, check_integer, refuse_none, several
from ._errors import UnprocessableError, UsageError
from ._http import Connection, page_at
from ._page import Answer, Listing, Page
from ._pager import Pager
from ._paging import Query, fingerprint, link_of, page_of
from ._unwrapping import unwrapped

#: The most iTwins of one listing, and what to ask for where the service takes less. Source: sections 4.3 and 7.
MOST_RETURNED, MOST_RETURNED_BELOW = 10_000, 9_999
#: The largest page. Source: sections 4.3 and 8.
MOST_PER_PAGE = 1000

_PREFER: dict[object, str] = {"minimal": "return=minimal", "full": "return=representation"}


class ITwins:
    """The operations on iTwins, as `platform.itwins`. Any authenticated user may call them. Source: section 5."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get_primary_account(self) -> ITwinSummary:
        """Gets the primary Account of the caller; the service makes one for a user without an organization.

        Raises:
            AuthenticationError, NotFoundError (ResourceNotFound), RateLimitError.

        Source: section 4.4.
        """
        response = await get_primary_account.asyncio_detailed(client=self._connection.generated)
        return unwrapped(response, response.parsed.itwin, ITwinSummary)

    def list(
        self,
        *,
        sub_class: ITwinSubClass | str | Iterable[ITwinSubClass | str] | Unset = UNSET,
        status: ITwinStatus | str | Unset = UNSET,
        type: str | Unset = UNSET,
        number: str | Unset = UNSET,
        display_name: str | Unset = UNSET,
        parent_id: str | Unset = UNSET,
        itwin_account_id: str | Unset = UNSET,
        search: str | Unset = UNSET,
        filter: str | Unset = UNSET,
        select: str | Iterable[str] | Unset = UNSET,
        order_by: str | Unset = UNSET,
        include_inactive: bool | Unset = UNSET,
        representation: Literal["minimal", "full"] | Unset = UNSET,
        query_scope: QueryScope | str | Unset = UNSET,
        max_return: int = MOST_RETURNED,
        skip: int = 0,
        page_size: int = MOST_PER_PAGE,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[ITwin]], None] | None = None,
    ) -> Pager[ITwin]:
        """Returns at once; the first request goes out with the first `async for`. Lists the caller's iTwins.

        Args:
            sub_class: one or several; recommended, it makes queries faster.
            status: Inactive returns only inactive iTwins. Not with include_inactive.
            type: exact match.
            number: exact match. Not with search.
            display_name: exact match. Not with search.
            parent_id: children of this iTwin.
            itwin_account_id: iTwins owned by this Account.
            search: a part of number or display name.
            filter: an OData filter. Only sub_class may accompany it.
            select: properties to return; the others are UNSET then.
            order_by: a property and a direction, such as `displayName ASC`.
            include_inactive: True returns Active, Trial and Inactive iTwins.
            representation: `minimal` or `full`; the service chooses minimal where left out. Not `full` with select.
            query_scope: `MemberOfiTwin` or, for organization administrators, `OrganizationAdmin`.
            max_return: the most iTwins that the service returns in all, 1 to 10000; `pager.truncated` says when it
                ended the listing.
            skip: iTwins to skip, 0 or more.
            page_size: iTwins of one request, 1 to 1000.
            limit: iTwins wanted in all; None for all there are.
            concurrency: page requests in flight, 1 or more, once the first page has shown the step.
            resume: where an earlier run of the same listing ended.
            on_page: is called with each page when it has been read.

        Raises:
            UsageError: keywords that exclude each other, a number out of its range, or a `resume` of another listing.
            While it is read: UnprocessableError (InvalidiTwinsRequest), AuthenticationError, NotFoundError,
            RateLimitError, PagingError.

        Source: section 4.3.
        """
        sub_classes, selected = several(sub_class, ITwinSubClass), several(select, str)
        parameters = {
            "subClass": sub_classes,
            "status": status,
            "type": type,
            "number": number,
            "displayName": display_name,
            "parentId": parent_id,
            "iTwinAccountId": itwin_account_id,
            "$search": search,
            "$filter": filter,
            "$select": selected,
            "$orderby": order_by,
            "includeInactive": include_inactive,
            "Prefer": representation,
            "X-iTwin-Query-Scope": query_scope,
        }
        if self._connection.check_requests:
            _check_list(parameters, max_return=max_return, skip=skip, page_size=page_size)
        cap = max_return

        async def page(query: Query | None) -> Answer[ITwin]:
            with page_at(query):
                response = await list_itwins.asyncio_detailed(
                    client=self._connection.generated,
                    sub_class=sub_classes,
                    status=status if isinstance(status, Unset) else ITwinStatus(status),
                    type_=type,
                    number=number,
                    display_name=display_name,
                    parent_id=parent_id,
                    itwin_account_id=itwin_account_id,
                    search=search,
                    select=selected,
                    filter_=filter,
                    orderby=order_by,
                    include_inactive=include_inactive,
                    top=page_size,
                    skip=skip or UNSET,
                    x_max_return=cap,
                    x_itwin_query_scope=query_scope if isinstance(query_scope, Unset) else QueryScope(query_scope),
                    prefer=_PREFER.get(representation, UNSET),
                )
            echoed = response.headers.get("x-max-return", "")
            return Answer(
                items=unwrapped(response, response.parsed.itwins, list),
                next_href=link_of(response.parsed.links, "next_"),
                address=f"{self._connection.address}/itwins/",
                query=query or page_of(skip=skip, page_size=page_size),
                max_return=int(echoed) if echoed.isascii() and echoed.isdigit() and len(echoed) < 10 else cap,
            )

        async def fetch(query: Query | None) -> Answer[ITwin]:
            nonlocal cap
            try:
                return await page(query)
            except UnprocessableError as error:
                # The description allows 10000, and one of its messages says "below 10000".
                if cap != MOST_RETURNED or not _refuses_max_return(error):
                    raise
                cap = MOST_RETURNED_BELOW
                return await page(query)

        return Pager(
            Listing(
                fetch=fetch,
                name=fingerprint("list_itwins", {**parameters, "max": max_return, "skip": skip, "top": page_size}),
                page_size=page_size,
                skip=skip,
                limit=limit,
                concurrency=concurrency,
                resume=resume,
                on_page=on_page,
            )
        )


def _check_list(parameters: Mapping[str, object], *, max_return: int, skip: int, page_size: int) -> None:
    refuse_none(parameters, code=None)
    check_exclusive(parameters)
    for name in ("subClass", "$select"):
        if parameters[name] == []:
            raise UsageError(f"{name} has no value: leave it out, or name one", code="InvalidValue", target=name)
    if parameters["Prefer"] == "full" and not isinstance(parameters["$select"], Unset):
        raise UsageError("select and representation='full' exclude each other: with $select, Prefer is ignored")
    if not isinstance(parameters["Prefer"], Unset) and parameters["Prefer"] not in _PREFER:
        raise UsageError("representation must be 'minimal' or 'full'")
    check_integer("page_size", page_size, least=1, most=MOST_PER_PAGE, code="InvalidValue", target="$top")
    check_integer("skip", skip, least=0, most=None, code="InvalidValue", target="$skip")
    check_integer(
        "max_return", max_return, least=1, most=MOST_RETURNED, code="InvalidHeaderValue", target="X-Max-Return"
    )


def _refuses_max_return(error: UnprocessableError) -> bool:
    return any(
        detail.code == "InvalidHeaderValue" and (detail.target or "").lower() in ("", "x-max-return")
        for detail in error.details
    )
