"""List iTwins. Source: section 4.3."""

from collections.abc import Callable

from ..errors import insufficient_permissions
from ..json_values import JSON, JSONObject
from ..messages import OperationRequest, ServiceResponse
from ..paging import paging_links
from ..queries.itwin_query import ORGANIZATION_SCOPE, ITwinQuery, order_key, read_itwin_query
from ..state import Platform

# Parameters that do not select iTwins: page and fields of a listing.
NOT_SELECTING = ("$top", "$skip", "$select")
MOST_SELECTIONS = 16


def list_itwins(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return one page of the iTwins that the caller is a member of. Source: section 4.3."""
    query = read_itwin_query(request.query, request.headers)
    if query.query_scope == ORGANIZATION_SCOPE and not request.caller.organization_administrator:
        raise insufficient_permissions("X-iTwin-Query-Scope: OrganizationAdmin needs an organization administrator.")
    # X-Max-Return limits the listing, not the page: iTwins beyond it do not exist for this caller.
    found = _select(platform, request, query)[: query.max_return]
    page = found[query.skip : query.skip + query.top]
    links = paging_links(request.url, request.query, skip=query.skip, top=query.top, total=len(found))
    body: JSON = {"iTwins": _represent(page, query.properties), "_links": links}
    return ServiceResponse(200, body, (("X-Max-Return", str(query.max_return)),))


def _select(platform: Platform, request: OperationRequest, query: ITwinQuery) -> list[JSONObject]:
    selecting = frozenset((name, value) for name, value in request.query.items() if name not in NOT_SELECTING)
    key = (selecting, query.query_scope, request.caller.member_of)
    if key not in platform.selections:
        if len(platform.selections) >= MOST_SELECTIONS:
            platform.selections.clear()
        platform.selections[key] = _select_anew(platform, request, query)
    return platform.selections[key]


def _select_anew(platform: Platform, request: OperationRequest, query: ITwinQuery) -> list[JSONObject]:
    predicates: list[Callable[[JSONObject], bool]] = list(query.predicates)
    caller = request.caller
    if query.query_scope != ORGANIZATION_SCOPE and caller.member_of is not None:
        predicates.append(lambda itwin: caller.is_member_of(str(itwin["id"])))
    found = [itwin for itwin in platform.itwins.values() if all(accepts(itwin) for accepts in predicates)]
    if query.order_by is not None:
        name, descending = query.order_by
        found.sort(key=order_key(name), reverse=descending)
    return found


def _represent(itwins: list[JSONObject], properties: tuple[str, ...] | None) -> list[JSON]:
    if properties is None:
        return list(itwins)
    return [{name: itwin[name] for name in properties} for itwin in itwins]
