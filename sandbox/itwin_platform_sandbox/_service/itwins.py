"""List iTwins and Get primary account. Source: sections 4.3 and 4.4."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .itwin_filter import (
    ITWIN_PROPERTIES,
    STATUSES,
    SUB_CLASSES,
    SUMMARY_PROPERTIES,
    FilterError,
    Predicate,
    compile_filter,
    summary,
)
from .json_values import JSON, JSONObject
from .messages import Detail, InvalidRequest, OperationRequest, ServiceResponse, insufficient_permissions
from .paging import paging_links
from .state import Platform

INVALID = InvalidRequest(422, "InvalidiTwinsRequest", "The request to list iTwins is not valid.")
# Parameters that a $filter replaces; only subClass may accompany it.
SIMPLE_PARAMETERS = ("status", "type", "number", "displayName", "parentId", "iTwinAccountId", "$search")
MEMBER_SCOPE, ORGANIZATION_SCOPE = "MemberOfiTwin", "OrganizationAdmin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ITwinQuery:
    """The parameters of one request."""

    predicates: tuple[Predicate, ...]
    properties: tuple[str, ...] | None
    order_by: tuple[str, bool] | None
    top: int
    skip: int
    max_return: int
    query_scope: str


class _Problems(list[Detail]):
    """The problems of one request."""

    def add(self, code: str, target: str, message: str) -> None:
        self.append(Detail(code, target, message))


def read_itwin_query(query: Mapping[str, str], headers: Mapping[str, str]) -> ITwinQuery:
    """Parse and check all parameters; one error has all problems. Source: section 7, 422 details."""
    problems = _Problems()
    _check_combinations(query, problems)
    predicates = (
        _status_predicate(query, problems),
        _sub_class_predicate(query, problems),
        *_exact_predicates(query),
        *_search_predicates(query),
        *_filter_predicates(query, problems),
    )
    result = ITwinQuery(
        predicates=tuple(predicate for predicate in predicates if predicate is not None),
        properties=_properties(query, headers, problems),
        order_by=_order_by(query, problems),
        top=_as_integer(query, "$top", 100, range(1, 1001), "a positive integer up to 1000", problems),
        skip=_as_integer(query, "$skip", 0, range(2**63), "a non-negative integer", problems),
        max_return=_max_return(headers, problems),
        query_scope=_query_scope(headers, problems),
    )
    INVALID.reject_any(problems)
    return result


def _check_combinations(query: Mapping[str, str], problems: _Problems) -> None:
    if "$search" in query and ("displayName" in query or "number" in query):
        problems.add("InvalidParameter", "$search", "$search cannot be combined with displayName or number.")
    if "includeInactive" in query and "status" in query:
        problems.add("InvalidParameter", "includeInactive", "includeInactive cannot be combined with status.")
    if "$filter" in query and any(name in query for name in SIMPLE_PARAMETERS):
        names = ", ".join(name for name in SIMPLE_PARAMETERS if name in query)
        problems.add("InvalidParameter", "$filter", f"$filter cannot be combined with {names}.")
    for name in ("parentId", "iTwinAccountId"):
        if query.get(name) == "":
            problems.add("InvalidValue", name, f"{name} is empty.")


def _status_predicate(query: Mapping[str, str], problems: _Problems) -> Predicate | None:
    include_inactive = query.get("includeInactive", "false").lower()
    if include_inactive not in ("true", "false"):
        problems.add("InvalidParameter", "includeInactive", "includeInactive must be true or false.")
    status = query.get("status")
    if status is not None:
        if status not in STATUSES:
            problems.add("InvalidValue", "status", "status must be Active, Inactive or Trial.")
        return lambda itwin: itwin["status"] == status
    return None if include_inactive == "true" else is_not_inactive


def is_not_inactive(itwin: Mapping[str, object]) -> bool:
    """Return whether the default listing has the iTwin. Source: section 3."""
    return itwin["status"] != "Inactive"


def _sub_class_predicate(query: Mapping[str, str], problems: _Problems) -> Predicate | None:
    if "subClass" not in query:
        return None
    wanted = {name.strip() for name in query["subClass"].split(",")} & set(SUB_CLASSES)
    if not wanted:
        problems.add("InvalidValue", "subClass", f"subClass must name one of {', '.join(SUB_CLASSES)}.")
    return lambda itwin: itwin["subClass"] in wanted


def _exact_predicates(query: Mapping[str, str]) -> list[Predicate]:
    exact = [_equals(name, query[name]) for name in ("type", "number", "displayName") if name in query]
    ids = [_equals_id(name, query[name]) for name in ("parentId", "iTwinAccountId") if name in query]
    return exact + ids


def _equals(name: str, value: str) -> Predicate:
    return lambda itwin: itwin[name] == value


def _equals_id(name: str, value: str) -> Predicate:
    return _equals(name, value.lower())


def _search_predicates(query: Mapping[str, str]) -> list[Predicate]:
    if "$search" not in query:
        return []
    text = query["$search"].casefold()
    return [lambda itwin: text in str(itwin["displayName"]).casefold() or text in str(itwin["number"]).casefold()]


def _filter_predicates(query: Mapping[str, str], problems: _Problems) -> list[Predicate]:
    if "$filter" not in query:
        return []
    try:
        return [compile_filter(query["$filter"])]
    except FilterError as error:
        problems.add("InvalidValue" if error.cause == "property" else "InvalidParameter", "$filter", str(error))
        return []


def _properties(query: Mapping[str, str], headers: Mapping[str, str], problems: _Problems) -> tuple[str, ...] | None:
    if "$select" in query:
        names = tuple(name.strip() for name in query["$select"].split(","))
        unknown = [name for name in names if name not in ITWIN_PROPERTIES]
        if unknown:
            problems.add("InvalidValue", "$select", f"{unknown[0][:100]!r} is not a property of an iTwin.")
        return names
    preferences = {preference.strip().lower() for preference in headers.get("prefer", "").split(",")}
    return None if "return=representation" in preferences else SUMMARY_PROPERTIES


def _order_by(query: Mapping[str, str], problems: _Problems) -> tuple[str, bool] | None:
    if "$orderby" not in query:
        return None
    match = re.fullmatch(r"\s*(\w+)(?:\s+(asc|desc))?\s*", query["$orderby"], re.IGNORECASE)
    if match is None or match[1] not in ITWIN_PROPERTIES:
        problems.add("InvalidValue", "$orderby", "$orderby must be a property of an iTwin with ASC, DESC or nothing.")
        return None
    return match[1], (match[2] or "asc").lower() == "desc"


def _as_integer(
    query: Mapping[str, str], name: str, default: int, allowed: range, rule: str, problems: _Problems
) -> int:
    if name not in query:
        return default
    number = parse_integer(query[name])
    if number is None or number not in allowed:
        problems.add("InvalidValue", name, f"{name} must be {rule}.")
        return default
    return number


def parse_integer(text: str) -> int | None:
    """Return the integer of decimal digits, with or without a sign; None for every other string."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None


def _max_return(headers: Mapping[str, str], problems: _Problems) -> int:
    number = parse_integer(headers.get("x-max-return", "1000").strip())
    if number is None or not 1 <= number <= 10_000:
        message = "Header X-Max-Return is incorrect: it must be a positive integer below 10000."
        problems.add("InvalidHeaderValue", "X-Max-Return", message)
        return 1000
    return number


def _query_scope(headers: Mapping[str, str], problems: _Problems) -> str:
    sent = headers.get("x-itwin-query-scope", MEMBER_SCOPE)
    # Without regard to case: another team's client writes `memberOfItwin`.
    scope = {known.casefold(): known for known in (MEMBER_SCOPE, ORGANIZATION_SCOPE)}.get(sent.casefold())
    if scope is None:
        # The specification has this target, although the header of this operation is X-iTwin-Query-Scope.
        message = f"Header X-iTwin-Query-Scope must be {MEMBER_SCOPE} or {ORGANIZATION_SCOPE}."
        problems.add("InvalidHeaderValue", "X-iTwin-Create-Scope", message)
        return MEMBER_SCOPE
    return scope


OrderKey = Callable[[Mapping[str, object]], tuple[bool, object]]


def order_key(name: str) -> OrderKey:
    """Return the sort key for one property: nulls first, strings without regard to case."""
    if ITWIN_PROPERTIES[name] == "text":
        return lambda itwin: (itwin[name] is not None, str(itwin[name] or "").casefold())
    return lambda itwin: (itwin[name] is not None, itwin[name] or 0)


# Parameters that do not select iTwins: page and fields of a listing.
NOT_SELECTING = ("$top", "$skip", "$select")


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
    return platform.selections.get(key, lambda: _select_anew(platform, request, query))


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


def get_primary_account(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return the summary of the caller's primary Account iTwin. Source: section 4.4."""
    del request  # any authenticated caller, no parameters, no body
    return ServiceResponse(200, {"iTwin": summary(platform.itwins[platform.account_id])})
