"""List iTwins and Get primary account. Source: sections 4.3 and 4.4."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from .credentials import Caller
from .document import OperationRequest, example_of, properties_of, values_of
from .itwin_filter import ITWIN_PROPERTIES, SUMMARY_PROPERTIES, Filter, FilterError, Predicate, compile_filter
from .json_values import JSON, JSONObject
from .messages import Detail, ServiceResponse, insufficient_permissions
from .paging import paging_links
from .state import Platform, time_text

EXACT_PARAMETERS = ("type", "number", "displayName")
ID_PARAMETERS = ("parentId", "iTwinAccountId")
MEMBER_SCOPE, ORGANIZATION_SCOPE = values_of("QueryScope")
CREATED = datetime(2024, 1, 15, 12, tzinfo=UTC)
# A preference that the specification does not have is ignored (RFC 7240).
IGNORED = ("Prefer",)


def list_itwins(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return one page of the iTwins that the caller is a member of. Source: section 4.3."""
    query, headers = _with_known_sub_classes(request.query), _with_known_scope(request.headers)
    request = replace(request, query=query, headers=headers)
    parameters, details = request.read_parameters(ignored=IGNORED)
    scope = str(parameters["X-iTwin-Query-Scope"])
    predicates = list(_predicates(request, parameters, details))
    properties = _properties(request, parameters, details)
    order_by = _order_by(request, parameters, details)
    request.operation.reject_any(details)
    caller = request.caller
    if scope == ORGANIZATION_SCOPE and not caller.organization_administrator:
        message = "X-iTwin-Query-Scope: OrganizationAdmin needs an organization administrator."
        raise insufficient_permissions(message)
    if scope == MEMBER_SCOPE:
        predicates.append(lambda itwin: caller.is_member_of(str(itwin["id"])))
    found = [itwin for itwin in _itwins(platform, caller) if all(accepts(itwin) for accepts in predicates)]
    if order_by is not None:
        found.sort(key=order_key(order_by[0]), reverse=order_by[1])
    skip, top, most = (int(str(parameters[name])) for name in ("$skip", "$top", "X-Max-Return"))
    # X-Max-Return limits the listing, not the page: iTwins beyond it do not exist for this caller.
    total = min(len(found), most)
    page = found[skip : min(skip + top, total)]
    links = paging_links(request.url, request.query, skip=skip, top=top, total=total)
    body: JSON = {"iTwins": _represent(page, properties), "_links": links}
    return request.respond(body, (("X-Max-Return", str(most)),))


def get_primary_account(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return the summary of the caller's primary Account iTwin. Source: section 4.4."""
    account_id = request.caller.personal_account_id
    account = personal_account(account_id) if account_id else platform.itwins[platform.account_id]
    return request.respond({"iTwin": {name: account[name] for name in SUMMARY_PROPERTIES}})


def _itwins(platform: Platform, caller: Caller) -> Iterator[JSONObject]:
    if caller.personal_account_id is not None:
        yield personal_account(caller.personal_account_id)
    yield from platform.itwins.values()


def new_itwin(created: str) -> JSONObject:
    """Return an iTwin created at a time, with null or an example in every other field."""
    known: JSONObject = {"status": "Active", "dataCenterLocation": "East US"}
    fields: JSONObject = {name: example_of(schema) for name, schema in properties_of("ITwin").items()}
    return {**fields, **known, "createdDateTime": created, "lastModifiedDateTime": created}


def personal_account(account_id: str) -> JSONObject:
    """Return the Account iTwin that was created for a user without an organization. Source: section 4.4."""
    classes: JSONObject = {"class": "Account", "subClass": "Account"}
    named: JSONObject = {"id": account_id, "number": account_id[:8], "displayName": "Personal account"}
    return {**new_itwin(time_text(CREATED)), **classes, **named, "iTwinAccountId": account_id}


def _with_known_sub_classes(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return the query without unknown subclasses, if a known one remains. Source: section 7, "no valid subClass"."""
    names = [name.strip() for name in query.get("subClass", "").split(",")]
    known = [name for name in names if name in values_of("ITwinSubClass")]
    return {**query, "subClass": ",".join(known)} if known else query


def _predicates(
    request: OperationRequest, parameters: Mapping[str, JSON], details: list[Detail]
) -> Iterator[Predicate]:
    query, status, sub_classes = request.query, parameters["status"], parameters["subClass"]
    compiled = _filter(query, details)
    if compiled is not None:
        yield compiled.accepts
    asks_for_inactive = compiled is not None and compiled.asks_for_inactive
    if status is not None:
        yield lambda itwin: itwin["status"] == status
    elif not (parameters["includeInactive"] or asks_for_inactive):
        yield lambda itwin: itwin["status"] != "Inactive"  # source: section 3
    if isinstance(sub_classes, list):
        yield lambda itwin: itwin["subClass"] in sub_classes
    exact = {name: query[name] for name in EXACT_PARAMETERS if name in query}
    ids = {name: query[name].lower() for name in ID_PARAMETERS if name in query}
    for name, value in {**exact, **ids}.items():
        yield _equals(name, value)
    if "$search" in query:
        text = query["$search"].casefold()
        yield lambda itwin: text in str(itwin["displayName"]).casefold() or text in str(itwin["number"]).casefold()


def _filter(query: Mapping[str, str], details: list[Detail]) -> Filter | None:
    try:
        return compile_filter(query["$filter"]) if query.get("$filter") else None  # the document rejects an empty one
    except FilterError as error:
        code = "InvalidValue" if error.cause == "property" else "InvalidParameter"
        details.append(Detail(code, "$filter", str(error)))
        return None


def _equals(name: str, value: str) -> Predicate:
    return lambda itwin: itwin[name] == value


def _properties(
    request: OperationRequest, parameters: Mapping[str, JSON], details: list[Detail]
) -> tuple[str, ...] | None:
    """Return the names of the properties to show; None for all."""
    selected = parameters["$select"]
    if isinstance(selected, list):
        names = tuple(map(str, selected))
        unknown = [name for name in names if name and name not in ITWIN_PROPERTIES]
        if unknown:
            details.append(request.operation.detail("$select", f"{unknown[0][:100]!r} is not a property of an iTwin."))
        return names
    preferences = {preference.strip().lower() for preference in request.headers.get("prefer", "").split(",")}
    return None if "return=representation" in preferences else SUMMARY_PROPERTIES


def _order_by(
    request: OperationRequest, parameters: Mapping[str, JSON], details: list[Detail]
) -> tuple[str, bool] | None:
    if not parameters["$orderby"]:
        return None
    match = re.fullmatch(r"\s*(\w+)(?:\s+(asc|desc))?\s*", str(parameters["$orderby"]), re.IGNORECASE)
    if match is None or match[1] not in ITWIN_PROPERTIES:
        message = "$orderby must be a property of an iTwin with ASC, DESC or nothing."
        details.append(request.operation.detail("$orderby", message))
        return None
    return match[1], (match[2] or "asc").lower() == "desc"


def _with_known_scope(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return the headers with the scope in the letter case of the document: `@itwin/itwins-client` sends another."""
    sent = headers.get("x-itwin-query-scope", "")
    known = next((scope for scope in values_of("QueryScope") if scope.casefold() == sent.casefold()), sent)
    return {**headers, "x-itwin-query-scope": known} if sent else headers


OrderKey = Callable[[Mapping[str, object]], tuple[bool, object]]


def order_key(name: str) -> OrderKey:
    """Return the sort key for one property: nulls first, strings without regard to case."""
    if ITWIN_PROPERTIES[name] == "text":
        return lambda itwin: (itwin[name] is not None, str(itwin[name] or "").casefold())
    return lambda itwin: (itwin[name] is not None, itwin[name] or 0)


def _represent(itwins: list[JSONObject], properties: tuple[str, ...] | None) -> list[JSON]:
    if properties is None:
        return list(itwins)
    return [{name: itwin[name] for name in properties} for itwin in itwins]
