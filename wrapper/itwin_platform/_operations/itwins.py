"""iTwins: containers organised in a hierarchy. Source: sections 1, 2.5, 2.10, 4.3 and 4.4."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, cast

from itwin_platform_api import models
from itwin_platform_api.api.itwins import get_primary_account, list_itwins
from itwin_platform_api.types import UNSET, Unset
from itwin_platform_transport import UsageError

from .._listings.list_all import RangeReader
from .._listings.pager import Pager, PageReader
from .._listings.pages import TIMES, Listing, Page, PageContent, count_of
from .._requests.request import check_header
from .._requests.sender import DecodedResponse, ErrorsOfCall, unwrap
from . import Group, as_list

#: The default of max_return. The specification allows 1 to 10000, and one of its messages asks for less than 10000.
MOST_RETURNED = list_itwins.RULES["x_max_return"].maximum - 1
#: Most iTwins of one page.
ITWINS_PER_PAGE = list_itwins.RULES["top"].maximum
#: The properties of the minimal representation. Source: section 2.5.
_SUMMARY: tuple[str, ...] = tuple(models.ITwinSummary.FIELDS)
_listing = partial(Listing, parameters=list_itwins.QUERY_PARAMETERS, most=ITWINS_PER_PAGE)
#: The value of Prefer for each `representation`. Source: section 4.3.
_PREFER = {"minimal": models.PreferredReturn("return=minimal"), "full": models.PreferredReturn("return=representation")}


# Source: section 5.
class ITwins(Group):
    """The operations on iTwins, as `platform.itwins`. Any authenticated user may call them."""

    async def get_primary_account(self) -> models.ITwinSummary:
        """Return the primary Account of the caller; the service creates one for a user without an organization.

        Returns:
            The Account. A user in an organization gets the Account of the organization.

        Raises:
            NotFoundError: the service finds no Account (`ResourceNotFound`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            account = await platform.itwins.get_primary_account()
            print(account.display_name)
            ```

        Source: section 4.4, get_primary_account on the specification page of the documentation.
        """
        response = await self._sender.send(get_primary_account.build_request())
        return unwrap(response, get_primary_account.parse_response(response).itwin, models.ITwinSummary)

    def list(
        self,
        *,
        sub_class: models.ITwinSubClassParam | Iterable[models.ITwinSubClassParam] | Unset = UNSET,
        status: models.ITwinStatusParam | Unset = UNSET,
        type: str | Unset = UNSET,
        number: str | Unset = UNSET,
        display_name: str | Unset = UNSET,
        parent_id: str | Unset = UNSET,
        itwin_account_id: str | Unset = UNSET,
        search: str | Unset = UNSET,
        filter: str | Unset = UNSET,
        select: models.ITwinPropertyParam | Iterable[models.ITwinPropertyParam] | Unset = UNSET,
        order_by: models.ITwinOrderParam | Unset = UNSET,
        include_inactive: bool | Unset = UNSET,
        representation: Literal["minimal", "full"] | Unset = UNSET,
        query_scope: models.QueryScopeParam | Unset = UNSET,
        max_return: int = 9999,  # MOST_RETURNED, as the number that an editor and the reference show
        skip: int = 0,
        page_size: int | None = None,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[models.ITwin]], None] | None = None,
    ) -> Pager[models.ITwin]:
        """List the iTwins that the caller is a member of. The first request is sent when iteration starts.

        Args:
            sub_class: one value or an iterable; recommended, because it makes queries faster.
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
            representation: `minimal` or `full`; the service defaults to minimal. Not `full` with select.
            query_scope: `MemberOfiTwin` or, for organization administrators, `OrganizationAdmin`.
            max_return: the most iTwins that the service returns in all, 1 to 10000. A service may reject 10000: the
                documentation of the header allows it, and a message of the service does not. See `pager.truncated`.
            skip: iTwins to skip, 0 or more.
            page_size: iTwins of one request, 1 to 1000; None for 1000, or for the rest of `limit` if that is less.
            limit: iTwins wanted in all; None for all there are.
            concurrency: page requests in flight, 1 or more. The first page is requested alone, because its link shows
                how the service paginates.
            resume: the position at which an earlier run of the same listing ended. No item comes twice. The page of the
                last item may be requested again, and with a `concurrency` of n up to n pages after it, which were not
                received.
            on_page: called with each page when it has been read.

        Returns:
            A lazy listing: iterate over its items or its `pages()`, or await `collect()`.

        Raises:
            UsageError: keywords that exclude each other, a number out of its range, or a `resume` of another listing.
            UnprocessableError: during iteration, the service rejects a value (`InvalidiTwinsRequest`).
            NotFoundError: during iteration, the resource or the operation does not exist.
            PagingError: during iteration, a next link cannot be followed.
            PlatformError: during iteration, the errors of every call: AuthenticationError, RateLimitError, ServerError,
                TokenError, NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            async for itwin in platform.itwins.list(sub_class="Project", limit=10):
                print(itwin.number, itwin.display_name)
            ```

        Source: section 4.3, list_itwins on the specification page of the documentation.
        """
        with ErrorsOfCall(list_itwins.METHOD, list_itwins.ROUTE):
            check_header("query_scope", query_scope)
            prefer = self._preferred(representation, select=select)
            first = list_itwins.build_request(
                sub_class=as_list("sub_class", sub_class),
                status=cast("Any", status),
                type_=type,
                number=number,
                display_name=display_name,
                parent_id=parent_id,
                itwin_account_id=itwin_account_id,
                search=search,
                select=as_list("select", select),
                filter_=filter,
                orderby=order_by,
                include_inactive=include_inactive,
                top=UNSET if page_size is None else page_size,
                skip=UNSET if skip == 0 else skip,
                x_max_return=max_return,
                x_itwin_query_scope=cast("Any", query_scope),
                prefer=prefer,
                reject=self._reject,
            )
            listing = _listing(
                name="list_itwins",
                first=self._sender.with_extras(first),
                sender=self._sender,
                page_size=page_size,
                skip=skip,
                limit=limit,
                concurrency=concurrency,
                max_return=max_return,
            )
            return Pager(listing, partial(PageReader, _read_page), resume=resume, on_page=on_page)

    def list_all(
        self,
        *,
        partition_by: models.ITwinTimeParam = "createdDateTime",
        sub_class: models.ITwinSubClassParam | Iterable[models.ITwinSubClassParam] | Unset = UNSET,
        filter: str | Unset = UNSET,
        select: models.ITwinPropertyParam | Iterable[models.ITwinPropertyParam] | Unset = UNSET,
        include_inactive: bool | Unset = UNSET,
        representation: Literal["minimal", "full"] | Unset = UNSET,
        query_scope: models.QueryScopeParam | Unset = UNSET,
        page_size: int | None = None,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        on_page: Callable[[Page[models.ITwin]], None] | None = None,
    ) -> Pager[models.ITwin]:
        """List iTwins beyond X-Max-Return, each of them once. The first request is sent when iteration starts.

        The listing is partitioned by ranges of a time: when a range reaches the cap, the next one begins at the last
        time in it. Items come in order of time, and items without a time at one end. So each iTwin has its `id` and
        this time, even if `select` or the minimal representation would omit them. The other keywords of `list` cannot
        be combined with a filter.

        Args:
            partition_by: `createdDateTime`, which never changes, or `lastModifiedDateTime`. With the latter, an iTwin
                that is modified while you read can be returned again, or another one can be missed. If the service
                rejects a filter by the time, PagingError is raised. iTwins without the time need a request of their
                own. If the service rejects that request, they are omitted with a TruncatedWarning.
            filter: an OData filter, to which the ranges are added.
            sub_class: as in `list`.
            select: as in `list`.
            include_inactive: as in `list`.
            representation: as in `list`.
            query_scope: as in `list`.
            page_size: as in `list`.
            limit: as in `list`.
            concurrency: as in `list`.
            resume: as in `list`. If the service does not sort by the time, iTwins can be returned again.
            on_page: as in `list`.

        Returns:
            A lazy listing, as `list` returns it.

        Raises:
            UsageError: as in `list`, or another `partition_by`.
            PagingError: the service does not filter by the time, or more iTwins have one timestamp than it returns.
            PlatformError: any error of `list` during iteration.

        Example:
            ```python
            itwins = await platform.itwins.list_all(sub_class="Project").collect()
            ```

        Source: section 4.3, list_itwins on the specification page of the documentation.
        """
        with ErrorsOfCall(list_itwins.METHOD, list_itwins.ROUTE):
            check_header("query_scope", query_scope)
            prefer = self._preferred(representation, select=select)
            selected = as_list("select", select)
            if not isinstance(partition_by, str) or partition_by not in TIMES:
                rule = f"partition_by must be one of the times of an iTwin: {' or '.join(TIMES)}"
                raise UsageError(rule, argument="partition_by")
            is_full = representation == "full"
            wanted = _SUMMARY if isinstance(selected, Unset) else selected
            first = list_itwins.build_request(
                sub_class=as_list("sub_class", sub_class),
                filter_=filter,
                # Each iTwin needs its time, because the next range begins at the last time.
                select=UNSET if is_full else [*dict.fromkeys([*wanted, "id", partition_by])] if wanted else selected,
                include_inactive=include_inactive,
                top=UNSET if page_size is None else page_size,
                x_max_return=MOST_RETURNED,
                x_itwin_query_scope=cast("Any", query_scope),
                prefer=prefer,
                reject=self._reject,
            )
            listing = _listing(
                name=f"list_all_itwins:{partition_by}",
                first=self._sender.with_extras(first),
                sender=self._sender,
                page_size=page_size,
                limit=limit,
                concurrency=concurrency,
                max_return=MOST_RETURNED,
                time=partition_by,
            )
            return Pager(listing, partial(RangeReader, _read_page), resume=resume, on_page=on_page)

    def _preferred(self, representation: object, *, select: object) -> models.PreferredReturn | Unset:
        """Return the value of Prefer; UNSET for none."""
        if isinstance(representation, Unset):
            return UNSET
        if not isinstance(representation, str) or representation not in _PREFER:
            raise UsageError("representation must be 'minimal' or 'full'", argument="representation")
        if representation == "full" and not isinstance(select, Unset) and self._sender.service.check_requests:
            rule = "select cannot be combined with representation='full': omit one, as $select takes precedence"
            raise UsageError(rule, argument="select")
        return _PREFER[representation]


def _read_page(response: DecodedResponse) -> PageContent[models.ITwin]:
    """Decode a response to list iTwins."""
    parsed = list_itwins.parse_response(response)
    return PageContent(
        items=unwrap(response, parsed.itwins, list),
        links=parsed.links,
        response=response,
        max_return=count_of(response.header("x-max-return")),
    )
