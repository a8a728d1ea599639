"""List iTwins, and the pages of both listings: parameters, order, links, cap. Source: sections 2.10, 4.3, 4.4 and 7."""

from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.calls import ITWINS_PER_PAGE
from tests.support.operations import wire_of
from tests.support.sandboxes import error_of
from tests.support.schema_values import SCHEMAS

#: The parameter for the order of scene objects.
ORDER = wire_of("list_scene_objects", "order_by")
pytestmark = pytest.mark.itwin_sandbox(itwins=250, objects=250)

ALL = {"$top": str(ITWINS_PER_PAGE)}
ORGANIZATION = {"X-iTwin-Query-Scope": "OrganizationAdmin"}
FULL, SUMMARY = ([*SCHEMAS[name]["properties"]] for name in ("ITwin", "ITwinSummary"))


async def listed(http: httpx.AsyncClient, params: dict[str, str], **headers: str) -> list[dict[str, Any]]:
    """The iTwins of one page."""
    found: list[dict[str, Any]] = (await http.get("/itwins/", params=params, headers=headers)).json()["iTwins"]
    return found


@pytest.mark.parametrize(
    ("params", "headers", "details"),
    [
        ({"$select": "displayName,colour"}, {}, "InvalidValue $select"),
        ({"$orderby": "displayName sideways"}, {}, "InvalidValue $orderby"),
        ({"$top": "0", "$skip": "-1"}, {}, "InvalidValue $top, InvalidValue $skip"),
        ({"$continuationToken": "!"}, {}, "InvalidValue $skip"),
        ({}, {"X-iTwin-Query-Scope": "Everybody"}, "InvalidHeaderValue X-iTwin-Create-Scope"),
    ],
)
async def test_each_broken_rule_is_named(
    http: httpx.AsyncClient, params: dict[str, str], headers: dict[str, str], details: str
) -> None:
    """Every wrong parameter has its detail code and target, all of them at once, and nothing else."""
    response = await http.get("/itwins/", params=params, headers=headers)
    assert error_of(response) == f"422 InvalidiTwinsRequest, {details}"


@pytest.mark.parametrize(
    ("params", "name", "values"),
    [
        (ALL, "status", {"Active", "Trial"}),
        (ALL | {"includeInactive": "true"}, "status", {"Active", "Trial", "Inactive"}),
        ({"status": "Inactive"}, "status", {"Inactive"}),
        ({"$filter": "'inactive' eq status or number eq 'x'"}, "status", {"Inactive"}),
        ({"$filter": "status ne 'Trial'", "subClass": "Asset"}, "status", {"Active"}),
        (ALL | {"subClass": "Program,Bridge, Portfolio"}, "subClass", {"Program", "Portfolio"}),
        ({"type": "Bridge"}, "type", {"Bridge"}),
        ({"$search": "acc-0"}, "class", {"Account"}),
    ],
)
async def test_parameters_select_itwins(
    http: httpx.AsyncClient, params: dict[str, str], name: str, values: set[str]
) -> None:
    """All parameters apply together, inactive iTwins are listed on request, and unknown subclasses are ignored."""
    assert {itwin[name] for itwin in await listed(http, params)} == values


async def test_simple_parameters_match_exactly(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """number, displayName, parentId and iTwinAccountId match exactly, $search a part in any case."""
    (itwin,) = await listed(http, {"$skip": "5", "$top": "1"})
    for name in ("number", "displayName"):
        assert await listed(http, {name: itwin[name]}) == [itwin]
        assert await listed(http, {name: itwin[name][:-1]}) == []
    assert itwin in await listed(http, ALL | {"$search": itwin["displayName"].upper()[1:-1]})
    children = await listed(http, {"parentId": sandbox.account_id})
    assert {child["subClass"] for child in children} == {"Portfolio", "Program"}
    assert len(await listed(http, ALL | {"iTwinAccountId": sandbox.account_id.upper()})) == 250


async def test_prefer_and_select_choose_the_properties(http: httpx.AsyncClient) -> None:
    """The summary is the default, Prefer gives the full representation, $select wins over Prefer."""
    full = {"Prefer": "return=representation"}
    assert [*(await listed(http, {}, Prefer="return=minimal"))[0]] == SUMMARY
    assert [*(await listed(http, {}, **full))[0]] == FULL
    assert [*(await listed(http, {"$select": "number,id"}, **full))[0]] == ["number", "id"]


@pytest.mark.parametrize(("direction", "descending"), [("", False), (" ASC", False), (" desc", True)])
@pytest.mark.parametrize("name", ["displayName", "type"])
async def test_order_by_puts_the_listing_in_order(
    http: httpx.AsyncClient, name: str, direction: str, descending: bool
) -> None:
    """$orderby sorts without regard to case, in the requested direction; null is the least value."""
    found = [itwin[name] for itwin in await listed(http, ALL | {"$orderby": f"{name}{direction}"})]
    assert found == sorted(found, key=lambda text: (text is not None, (text or "").casefold()), reverse=descending)


async def test_only_members_list_an_itwin(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The default scope has the caller's iTwins, the other one those of the organization, for administrators only."""
    sandbox.add_token("member", member_of=[sandbox.itwin_id])
    sandbox.add_token("user", organization_administrator=False)
    member, user = {"Authorization": "Bearer member"}, {"Authorization": "Bearer user"}
    for scope in ({}, {"X-iTwin-Query-Scope": "memberOfItwin"}):
        assert [itwin["id"] for itwin in await listed(http, ALL, **member, **scope)] == [sandbox.itwin_id]
    assert len(await listed(http, ALL, **member, **ORGANIZATION)) == 250
    rejected = await http.get("/itwins/", headers=user | ORGANIZATION)
    assert error_of(rejected) == "403 InsufficientPermissions"


async def test_a_caller_without_an_organization_has_one_account(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The caller's Account is another one than the organization's, and the only iTwin of its listing."""
    sandbox.add_token("alone", organization=False)
    headers = {"Authorization": "Bearer alone"}
    account = (await http.get("/itwins/myprimaryaccount", headers=headers)).json()["iTwin"]
    assert await listed(http, {}, **headers) == [account]
    assert account["class"] == account["subClass"] == "Account"
    assert account["id"] not in [sandbox.account_id, *(itwin["id"] for itwin in await listed(http, ALL))]
    assert (await http.get("/itwins/", headers=headers | ORGANIZATION)).status_code == 403


@pytest.mark.parametrize(
    ("path", "cap", "sizes"),
    [
        ("/itwins/?$top=100", "", [100, 100, 50]),
        ("/itwins/?$top=125", "", [125, 125]),
        (f"/itwins/?$top={ITWINS_PER_PAGE}", "", [250]),
        ("/itwins/?$top=100", "150", [100, 50]),
        ("/itwins/?$top=100", "200", [100, 100]),
        ("/itwins/?$skip=300", "200", [0]),
        *((f"/scenes/%s&$top=70&{ORDER}={order}", "", [70, 70, 70, 40]) for order in ("kind", "displayName", "order")),
    ],
)
async def test_following_next_reads_everything_once(
    http: httpx.AsyncClient, sandbox: Sandbox, path: str, cap: str, sizes: list[int]
) -> None:
    """The next links return every item once and end with the last page or at the cap, which each response names."""
    pages, url = [], path.replace("%s", f"{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}")
    while url:
        response = await http.get(url, headers={"X-Max-Return": cap} if cap else {})
        assert response.headers.get("X-Max-Return", "1000") == (cap or "1000")
        body = response.json()
        pages.append([item["id"] for item in body.get("objects", body.get("iTwins"))])
        url = body["_links"].get("next", {}).get("href", "")
    assert [len(page) for page in pages] == sizes
    assert len({item for page in pages for item in page}) == sum(sizes)


async def test_links_are_absolute_complete_and_have_a_raw_dollar_sign(
    http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """A link has scheme, host and path, the parameters of the request, defaults filled in, and $ as it is."""
    page = (await http.get("/itwins/", params={"subClass": "Project,Asset", "$filter": "number ne 'a b'"})).json()
    assert page["_links"]["next"]["href"] == (
        f"{sandbox.base_url}/itwins/?subClass=Project,Asset&$filter=number%20ne%20%27a%20b%27&$skip=100&$top=100"
    )


@pytest.mark.parametrize(
    ("skip", "present"),
    [(0, {"self", "next"}), (50, {"self", "next", "prev"}), (150, {"self", "prev"}), (900, {"self", "prev"})],
)
async def test_next_and_prev_are_there_only_when_such_a_page_is(
    http: httpx.AsyncClient, skip: int, present: set[str]
) -> None:
    """next is omitted on the last page and prev on the first."""
    assert (await http.get(f"/itwins/?$skip={skip}")).json()["_links"].keys() == present
