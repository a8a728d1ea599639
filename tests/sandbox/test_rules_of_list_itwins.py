"""What List iTwins rejects, and what its parameters do. Source: sections 4.3, 7 and 8."""

from collections.abc import Awaitable, Callable

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Detail = tuple[str, str | None]
Rejected = tuple[int, str, list[Detail]]
Rejecting = Callable[..., Awaitable[Rejected]]

INVALID = "InvalidiTwinsRequest"


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


@pytest.mark.parametrize(
    ("params", "headers", "detail"),
    [
        ({"subClass": ""}, {}, ("InvalidValue", "subClass")),
        ({"$select": "displayName,colour"}, {}, ("InvalidValue", "$select")),
        ({"$filter": "status eq"}, {}, ("InvalidParameter", "$filter")),
        ({"$filter": "colour eq 'red'"}, {}, ("InvalidValue", "$filter")),
        ({"$orderby": "colour"}, {}, ("InvalidValue", "$orderby")),
        ({"$orderby": "displayName sideways"}, {}, ("InvalidValue", "$orderby")),
        ({}, {"X-iTwin-Query-Scope": "Everybody"}, ("InvalidHeaderValue", "X-iTwin-Create-Scope")),
    ],
)
async def test_breaking_one_rule_is_rejected(
    rejected: Rejecting, params: dict[str, str], headers: dict[str, str], detail: Detail
) -> None:
    """What the document cannot state is rejected with its detail code and target, and nothing else."""
    assert await rejected("GET", "/itwins/", params=params, headers=headers) == (422, INVALID, [detail])


async def test_a_filter_may_be_accompanied_by_sub_class(http: httpx.AsyncClient) -> None:
    """$filter and subClass together narrow the listing twice."""
    response = await http.get("/itwins/", params={"$filter": "status ne 'Trial'", "subClass": "Asset"})
    found = response.json()["iTwins"]
    assert found
    assert all(itwin["subClass"] == "Asset" and itwin["status"] == "Active" for itwin in found)


@pytest.mark.parametrize(
    "filter", ["status eq 'inactive'", "'Inactive' eq status or number eq 'x'", "startswith('In', status)"]
)
async def test_a_filter_that_asks_for_inactive_gets_them(http: httpx.AsyncClient, filter: str) -> None:
    """Inactive iTwins are left out unless the request asks for them, which a filter can do too."""
    found = (await http.get("/itwins/", params={"$filter": filter})).json()["iTwins"]
    assert {itwin["status"] for itwin in found} == {"Inactive"}


async def test_all_violations_are_named_at_once(rejected: Rejecting) -> None:
    """Two broken rules give two details."""
    _, _, details = await rejected("GET", "/itwins/", params={"$top": "0", "$skip": "-1"})
    assert details == [("InvalidValue", "$top"), ("InvalidValue", "$skip")]


async def test_a_list_of_sub_classes_is_taken_when_one_is_valid(http: httpx.AsyncClient) -> None:
    """Several subclasses are comma delimited; an unknown one fails only if no known one is among them."""
    response = await http.get("/itwins/", params={"subClass": "Program,Bridge, Portfolio", "$top": "1000"})
    assert {itwin["subClass"] for itwin in response.json()["iTwins"]} == {"Program", "Portfolio"}


async def test_inactive_itwins_are_listed_when_asked_for(http: httpx.AsyncClient) -> None:
    """Inactive iTwins come with includeInactive=true, and alone with status=Inactive."""
    default = (await http.get("/itwins/", params={"$top": "1000"})).json()["iTwins"]
    everything = (await http.get("/itwins/", params={"includeInactive": "true", "$top": "1000"})).json()["iTwins"]
    inactive = (await http.get("/itwins/", params={"status": "Inactive", "$top": "1000"})).json()["iTwins"]
    assert (len(default), len(everything), len(inactive)) == (250, 275, 25)
    assert {itwin["status"] for itwin in default} == {"Active", "Trial"}
    assert {itwin["status"] for itwin in inactive} == {"Inactive"}


async def test_simple_parameters_match_exactly(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """number, displayName, type, parentId and iTwinAccountId select what equals them."""
    one = (await http.get("/itwins/", params={"$skip": "5", "$top": "1"})).json()["iTwins"][0]
    by_number = (await http.get("/itwins/", params={"number": one["number"]})).json()["iTwins"]
    by_name = (await http.get("/itwins/", params={"displayName": one["displayName"]})).json()["iTwins"]
    by_part = (await http.get("/itwins/", params={"displayName": one["displayName"][:-1]})).json()["iTwins"]
    by_type = (await http.get("/itwins/", params={"type": "Bridge"})).json()["iTwins"]
    owned = (await http.get("/itwins/", params={"iTwinAccountId": sandbox.account_id.upper()})).json()["iTwins"]
    children = (await http.get("/itwins/", params={"parentId": sandbox.account_id})).json()["iTwins"]
    assert by_number == by_name == [one]
    assert by_part == []
    assert {itwin["type"] for itwin in by_type} == {"Bridge"}
    assert len(owned) == 100
    assert {itwin["subClass"] for itwin in children} == {"Portfolio", "Program"}


async def test_search_finds_parts_of_number_and_name(http: httpx.AsyncClient) -> None:
    """$search is a part of the number or of the display name, in any case."""
    by_name = (await http.get("/itwins/", params={"$search": "BERGEN"})).json()["iTwins"]
    by_number = (await http.get("/itwins/", params={"$search": "acc-0"})).json()["iTwins"]
    assert by_name
    assert all("Bergen" in itwin["displayName"] for itwin in by_name)
    assert [itwin["class"] for itwin in by_number] == ["Account"]


async def test_many_different_listings_are_each_handled(http: httpx.AsyncClient) -> None:
    """Cached results of one query are never returned for another."""
    for _ in range(2):
        for number in range(20):
            response = await http.get("/itwins/", params={"$filter": f"number eq 'PRO-{number:06d}'"})
            assert all(itwin["number"] == f"PRO-{number:06d}" for itwin in response.json()["iTwins"])


SUMMARY = ["id", "class", "subClass", "type", "number", "displayName", "status"]


async def test_prefer_and_select_choose_what_is_shown(http: httpx.AsyncClient) -> None:
    """The summary is the default, Prefer gives the full representation, $select wins over Prefer."""

    async def first(params: dict[str, str], prefer: str) -> list[str]:
        response = await http.get("/itwins/", params={**params, "$top": "1"}, headers={"Prefer": prefer})
        return list(response.json()["iTwins"][0])

    assert await first({}, "return=minimal") == SUMMARY
    full = await first({}, "return=representation")
    assert full[:7] == SUMMARY
    assert len(full) == 20
    assert await first({"$select": "number,id"}, "return=representation") == ["number", "id"]


@pytest.mark.parametrize(("direction", "descending"), [("", False), (" ASC", False), (" desc", True)])
async def test_order_by_puts_the_listing_in_order(http: httpx.AsyncClient, direction: str, descending: bool) -> None:
    """$orderby sorts without regard to case, in the requested direction."""
    response = await http.get("/itwins/", params={"$orderby": f"displayName{direction}", "$top": "1000"})
    names = [itwin["displayName"].casefold() for itwin in response.json()["iTwins"]]
    assert names == sorted(names, reverse=descending)


async def test_order_by_a_nullable_property_has_nulls_first(http: httpx.AsyncClient) -> None:
    """A property that is null somewhere can still be sorted by."""
    response = await http.get("/itwins/", params={"$orderby": "type", "$top": "1000"})
    types = [itwin["type"] for itwin in response.json()["iTwins"]]
    assert types == sorted(types, key=lambda name: (name is not None, name or ""))


async def test_only_members_list_an_itwin(sandbox: Sandbox, http: httpx.AsyncClient) -> None:
    """The default scope has the iTwins that the caller is a member of, the other one all of the organization."""
    sandbox.add_token("member", member_of=[sandbox.itwin_id])
    headers = {"Authorization": "Bearer member"}
    mine = (await http.get("/itwins/", headers=headers)).json()["iTwins"]
    scope = {"X-iTwin-Query-Scope": "OrganizationAdmin"}
    all_of_them = (await http.get("/itwins/", headers=headers | scope)).json()["iTwins"]
    assert [itwin["id"] for itwin in mine] == [sandbox.itwin_id]
    assert len(all_of_them) == 100


async def test_the_query_scope_is_read_without_regard_to_case(http: httpx.AsyncClient) -> None:
    """A client that writes `memberOfItwin`, as another team's does, is understood."""
    response = await http.get("/itwins/", headers={"X-iTwin-Query-Scope": "memberOfItwin"})
    assert response.status_code == 200


async def test_the_organization_scope_needs_an_administrator(sandbox: Sandbox, rejected: Rejecting) -> None:
    """X-iTwin-Query-Scope: OrganizationAdmin by another caller is rejected with 403."""
    sandbox.add_token("user", organization_administrator=False)
    headers = {"Authorization": "Bearer user", "X-iTwin-Query-Scope": "OrganizationAdmin"}
    assert await rejected("GET", "/itwins/", headers=headers) == (403, "InsufficientPermissions", [])
