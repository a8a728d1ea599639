"""Links, pages and the cap of a listing. Source: sections 2.10, 4.3 and 4.6."""

import httpx
import pytest
from itwin_platform_sandbox import Sandbox


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


async def pages_from(http: httpx.AsyncClient, url: str, headers: dict[str, str], name: str) -> list[list[str]]:
    """The ids on every page, from the first one through the next links."""
    pages = []
    while url:
        body = (await http.get(url, headers=headers)).json()
        pages.append([item["id"] for item in body[name]])
        url = body["_links"].get("next", {}).get("href", "")
    return pages


@pytest.mark.parametrize(
    ("path", "cap", "sizes"),
    [
        ("/itwins/?$top=100", "", [100, 100, 50]),
        ("/itwins/?$top=250", "", [250]),
        ("/itwins/?$top=125", "", [125, 125]),
        ("/itwins/?$top=1000", "", [250]),
        ("/itwins/?$top=100", "1", [1]),
        ("/itwins/?$top=100", "150", [100, 50]),
        ("/itwins/?$top=100", "200", [100, 100]),
        ("/itwins/?$top=200", "10000", [200, 50]),
        *((f"/scenes/%s&$top=70&orderBy={order}", "", [70, 70, 70, 40]) for order in ("kind", "displayName", "order")),
    ],
)
async def test_following_next_reads_everything_once(
    http: httpx.AsyncClient, sandbox: Sandbox, path: str, cap: str, sizes: list[int]
) -> None:
    """The next links return every item once and end with the last page, or at the cap, which counts across pages."""
    headers = {"X-Max-Return": cap} if cap else {}
    url = path.replace("%s", f"{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}")
    pages = await pages_from(http, url, headers, "objects" if "objects" in url else "iTwins")
    assert [len(page) for page in pages] == sizes
    assert len({item for page in pages for item in page}) == sum(sizes)


@pytest.mark.parametrize(("sent", "echoed"), [({}, "1000"), ({"X-Max-Return": "150"}, "150")])
async def test_the_cap_that_was_used_is_echoed(http: httpx.AsyncClient, sent: dict[str, str], echoed: str) -> None:
    """The response names the cap, also the default one, in a header of the same name."""
    assert (await http.get("/itwins/", headers=sent)).headers["X-Max-Return"] == echoed


async def test_paging_past_the_cap_is_an_empty_page(http: httpx.AsyncClient) -> None:
    """A page behind the cap gets a response with 200 and nothing in it."""
    response = await http.get("/itwins/?$skip=300", headers={"X-Max-Return": "200"})
    assert response.status_code == 200
    assert response.json()["iTwins"] == []
    assert "next" not in response.json()["_links"]


async def test_links_are_absolute_complete_and_have_a_raw_dollar_sign(
    http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """A link has scheme, host and path, the parameters of the request, defaults filled in, and $ as it is."""
    links = (await http.get("/itwins/", params={"subClass": "Project,Asset", "$filter": "number ne 'a b'"})).json()
    assert links["_links"]["next"]["href"] == (
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


async def test_prev_leads_back(http: httpx.AsyncClient) -> None:
    """The prev link of the second page is the first page."""
    first = (await http.get("/itwins/?$top=60")).json()
    second = (await http.get(first["_links"]["next"]["href"])).json()
    back = (await http.get(second["_links"]["prev"]["href"])).json()
    assert back == first
