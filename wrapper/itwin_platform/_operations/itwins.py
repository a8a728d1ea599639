"""iTwins: containers organised in a hierarchy. Source: sections 1, 2.5, 4.3 and 4.4."""

from collections.abc import AsyncGenerator, Callable, Iterable
from functools import partial
from typing import Literal

from .._api import (
    UNSET,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    PreferredReturn,
    QueryScope,
    Unset,
    get_primary_account,
    list_itwins,
)
from .._errors import UnprocessableError, UsageError
from .._listings.links import count_of, link_of, page_of, page_request
from .._listings.page import ITWINS_PER_PAGE, MOST_RETURNED, Answer, Listing, Page, Place
from .._listings.pager import Pager
from .._listings.resume import fingerprint
from .._listings.time_ranges import TIMES, TimeRangeListing
from .._transports.platform import unwrap
from .group import Group
from .rules import PREFER, check_itwin_listing, one, several


class ITwins(Group):
    """The operations on iTwins, as `platform.itwins`. Any authenticated user may call them. Source: section 5."""

    async def get_primary_account(self) -> ITwinSummary:
        """Gets the primary Account of the caller; the service makes one for a user without an organization.

        Raises:
            AuthenticationError, NotFoundError (ResourceNotFound), RateLimitError.

        Source: section 4.4.
        """
        response = await self._connection.send(get_primary_account.build_request())
        return unwrap(response, get_primary_account.parse_response(response).itwin, ITwinSummary)

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
        page_size: int = ITWINS_PER_PAGE,
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
        sub_classes, selected = several("sub_class", sub_class, ITwinSubClass), several("select", select, str)
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
            check_itwin_listing(parameters, max_return=max_return, skip=skip, page_size=page_size)
        cap = max_return

        async def page(place: Place, max_return: int) -> Answer[ITwin]:
            values = list_itwins.build_request(
                sub_class=sub_classes,
                status=one(status, ITwinStatus),
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
                x_max_return=max_return,
                x_itwin_query_scope=one(query_scope, QueryScope),
                prefer=one(PREFER.get(representation, UNSET), PreferredReturn),
            )
            response = await self._connection.send(page_request(values, place.query))
            await place.arrived()
            parsed = list_itwins.parse_response(response)
            return Answer(
                items=unwrap(response, parsed.itwins, list),
                next_href=link_of(parsed.links, "next_"),
                address=f"{self._connection.address}/itwins/",
                query=place.query or page_of(skip=skip, page_size=page_size),
                max_return=count_of(response.headers.get("x-max-return", "")) or max_return,
            )

        async def fetch(place: Place) -> Answer[ITwin]:
            nonlocal cap
            asked = cap
            try:
                return await page(place, asked)
            except UnprocessableError as error:
                named = [(entry.target or "").lower() for entry in error.details if entry.code == "InvalidHeaderValue"]
                if asked != MOST_RETURNED or not {"", "x-max-return"}.intersection(named):
                    raise
            # The description allows 10000, and one of its messages says "below 10000".
            cap = MOST_RETURNED - 1
            return await page(place, cap)

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

    def list_all(
        self,
        *,
        partition_by: str = "createdDateTime",
        sub_class: ITwinSubClass | str | Iterable[ITwinSubClass | str] | Unset = UNSET,
        filter: str | Unset = UNSET,
        select: str | Iterable[str] | Unset = UNSET,
        include_inactive: bool | Unset = UNSET,
        representation: Literal["minimal", "full"] | Unset = UNSET,
        query_scope: QueryScope | str | Unset = UNSET,
        page_size: int = ITWINS_PER_PAGE,
        concurrency: int = 1,
    ) -> AsyncGenerator[ITwin, None]:
        """Returns at once; reads with the first `async for`. Lists iTwins beyond X-Max-Return, each of them once.

        It lists by disjoint ranges of a time, and halves a range wherever that reaches the cap: ranges in the order of
        time, then iTwins without the time; within a range the order is the service's. One that comes again, because it
        was modified meanwhile, is dropped by its id: let `select` name `id`. It cannot be resumed.

        Args:
            partition_by: `createdDateTime`, or `lastModifiedDateTime`, by which what is modified meanwhile can hide
                others. The description does not say by which the service filters: a PagingError says so where it
                refuses, and a TruncatedWarning where it only refuses to look for iTwins without the time.
            filter: an OData filter, which the ranges are added to.
            sub_class, select, include_inactive, representation, query_scope, page_size, concurrency: as in `list`; its
                other keywords cannot accompany a filter.

        Raises:
            UsageError: keywords that exclude each other, or a number out of its range.
            While it is read: PagingError where the service does not filter by the time, or gives more iTwins than the
            cap the same time; else as `list`.

        Source: section 4.3.
        """
        if partition_by not in TIMES:
            raise UsageError(f"partition_by must be one of the times of an iTwin: {', '.join(TIMES)}")
        listing = partial(
            self.list,
            sub_class=several("sub_class", sub_class, ITwinSubClass),
            include_inactive=include_inactive,
            query_scope=query_scope,
            page_size=page_size,
            concurrency=concurrency,
        )
        read = partial(listing, select=several("select", select, str), representation=representation)
        read(filter=filter)  # refuses now what would be refused later
        whole = TimeRangeListing(time=partition_by, within=filter or None, page_size=page_size, read=read, look=listing)
        return aiter(whole)
