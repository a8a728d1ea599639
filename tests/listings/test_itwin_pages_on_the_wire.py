"""What the pages of List iTwins ask for, byte for byte, and what comes of their responses. Source: section 4.3."""

import asyncio

import httpx
import pytest
from itwin_platform import PagingError, PlatformClient, ResponseDecodeError, UnprocessableError, UsageError
from pytest_httpx import HTTPXMock

from tests.support.prepared_pages import BASE_URL, itwin_page, queries, raw_queries, sent

INVALID_HEADER = {
    "error": {
        "code": "InvalidiTwinsRequest",
        "message": "Cannot list iTwins.",
        "details": [{"code": "InvalidHeaderValue", "message": "below 10000", "target": "X-Max-Return"}],
    }
}


async def test_every_keyword_goes_with_every_page(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Parameters and headers of the first request are those of the others, with the place that the link names."""
    httpx_mock.add_response(json=itwin_page("a", link="?$skip=7&$top=2"))
    httpx_mock.add_response(json=itwin_page("b"))
    pager = platform.itwins.list(
        sub_class=["Project", "Asset"],
        type="a&b=c",
        number="1",
        display_name="zür +1%",
        parent_id="p",
        itwin_account_id="i",
        order_by="displayName ASC",
        include_inactive=False,
        representation="full",
        query_scope="OrganizationAdmin",
        max_return=50,
        skip=5,
        page_size=2,
    )
    assert [itwin.id for itwin in await pager.collect()] == ["a", "b"]
    first, second = httpx_mock.get_requests()
    place = {"$skip": "7", "$top": "2"}
    assert dict(second.url.params) == {**dict(first.url.params), **place}
    assert dict(first.url.params) == {
        "subClass": "Project,Asset",
        "type": "a&b=c",
        "number": "1",
        "displayName": "zür +1%",
        "parentId": "p",
        "iTwinAccountId": "i",
        "$orderby": "displayName ASC",
        "includeInactive": "false",
        "$skip": "5",
        "$top": "2",
    }
    names = ("accept", "authorization", "prefer", "x-max-return", "x-itwin-query-scope")
    assert sent(first, *names) == sent(second, *names)
    assert sent(first, *names) == {
        "accept": "application/vnd.vendor.itwin-platform.v1+json",
        "authorization": "Bearer planted-secret",
        "prefer": "return=representation",
        "x-max-return": "50",
        "x-itwin-query-scope": "OrganizationAdmin",
    }
    assert first.url.path == second.url.path == "/prefix/itwins/"


async def test_what_is_omitted_is_not_sent(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Without keywords a page asks for the largest page and the largest cap, and nothing else."""
    httpx_mock.add_response(json=itwin_page())
    assert await platform.itwins.list().collect() == []
    (request,) = httpx_mock.get_requests()
    assert queries(httpx_mock) == ["$top=1000"]
    assert sent(request, "x-max-return", "prefer", "x-itwin-query-scope") == {
        "x-max-return": "10000",
        "prefer": None,
        "x-itwin-query-scope": None,
    }


@pytest.mark.parametrize(
    ("link", "query"),
    [
        (f"{BASE_URL}/itwins/?subClass=Asset&$skip=2&$top=2", "subClass=Project&$skip=2&$top=2"),
        (f" {BASE_URL}/itwins/?$top=2&$skip=2", "subClass=Project&$top=2&$skip=2"),
        ("/prefix/itwins/?$skip=2", "$top=2&subClass=Project&$skip=2"),
        ("?%24skip=2&$top=1", "subClass=Project&$skip=2&$top=1"),
        ("?$continuationToken=ab+/c%3D%3D", "subClass=Project&$top=2&$continuationToken=ab+/c%3D%3D"),
    ],
)
async def test_the_next_page(platform: PlatformClient, httpx_mock: HTTPXMock, link: str, query: str) -> None:
    """A link is read for its query, values as they came; what it does not say is as in the first request."""
    httpx_mock.add_response(json=itwin_page("a", "b", link=link))
    httpx_mock.add_response(json=itwin_page("c"))
    assert len(await platform.itwins.list(sub_class="Project", page_size=2).collect()) == 3
    assert sorted(raw_queries(httpx_mock)[1].split("&")) == sorted(query.split("&"))
    assert httpx_mock.get_requests()[1].url.host == "service.example"


@pytest.mark.parametrize(
    "links", [{}, {"next": None}, {"next": {"href": None}}, {"next": {"href": ""}}, {"next": {}}, None]
)
async def test_ends_of_a_listing(platform: PlatformClient, httpx_mock: HTTPXMock, links: object) -> None:
    """No link, null, and an empty one end the listing; a full page proves nothing, an empty one neither."""
    httpx_mock.add_response(json=itwin_page("a", "b", link="?$skip=2"))
    httpx_mock.add_response(json=itwin_page(link="?$skip=4"))
    httpx_mock.add_response(json={"iTwins": [{"id": "c"}, {"id": "d"}], "_links": links})
    assert len(await platform.itwins.list(page_size=2).collect()) == 4


async def test_missing_links_end_the_listing(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """A page without `_links` is the last."""
    httpx_mock.add_response(json={"iTwins": [{"id": "a"}]})
    assert len(await platform.itwins.list().collect()) == 1


@pytest.mark.parametrize("links", [[], 5, "text", {"next": 5}, {"next": []}, {"next": {"href": 5}}])
async def test_links_of_no_known_form_are_no_end(
    platform: PlatformClient, httpx_mock: HTTPXMock, links: object
) -> None:
    """What cannot be a link is reported: there may be more behind it."""
    httpx_mock.add_response(json={"iTwins": [{"id": "a"}], "_links": links})
    with pytest.raises(PagingError) as caught:
        await platform.itwins.list().collect()
    assert len(caught.value.collected) == 1


@pytest.mark.parametrize(
    "link",
    [
        "https://elsewhere.example/prefix/itwins/?$skip=2",
        "http://service.example/prefix/itwins/?$skip=2",
        "https://service.example:8443/prefix/itwins/?$skip=2",
        "//elsewhere.example/prefix/itwins/?$skip=2",
        "https://user:word@service.example/prefix/itwins/?$skip=2",
        "https://service.example/itwins/?$skip=2",
        "https://service.example/prefix/../itwins/?$skip=2",
        "?$skip=2\r\nHost: elsewhere.example",
        "?$skip=0",
        "http://[",
    ],
)
async def test_links_elsewhere_are_not_sent_to(platform: PlatformClient, httpx_mock: HTTPXMock, link: str) -> None:
    """A link that leaves the address, or goes nowhere, raises before a byte is sent."""
    httpx_mock.add_response(json=itwin_page("a", "b", link=link))
    with pytest.raises(PagingError) as caught:
        await platform.itwins.list(page_size=2).collect()
    assert len(httpx_mock.get_requests()) == 1
    assert len(caught.value.collected) == 2
    assert caught.value.resume is not None


@pytest.mark.parametrize("target", ["X-Max-Return", "x-max-return", None, ""])
async def test_a_cap_that_is_rejected_is_lowered_once(
    platform: PlatformClient, httpx_mock: HTTPXMock, target: str | None
) -> None:
    """Where the service takes fewer than 10000, the pager asks for 9999, and goes on with it."""
    detail = {"code": "InvalidHeaderValue", "target": target}
    httpx_mock.add_response(422, json={"error": {"code": "InvalidiTwinsRequest", "details": [{"code": "x"}, detail]}})
    httpx_mock.add_response(json=itwin_page("a", link="?$skip=1"), headers={"X-Max-Return": "9999"})
    httpx_mock.add_response(json=itwin_page("b"))
    pager = platform.itwins.list()
    assert len(await pager.collect()) == 2
    assert [request.headers["x-max-return"] for request in httpx_mock.get_requests()] == ["10000", "9999", "9999"]
    assert pager.max_return == 9999


async def test_runs_of_one_pager_lower_the_cap_each_for_itself() -> None:
    """Two runs of one pager at once each retry with the lower cap, whatever the order of their responses."""
    caps: list[str] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        cap = request.headers["x-max-return"]
        caps.append(cap)
        for _ in range(len(caps)):
            await asyncio.sleep(0)
        return httpx.Response(422, json=INVALID_HEADER) if cap == "10000" else httpx.Response(200, json=page)

    page = itwin_page("a")
    async with PlatformClient(BASE_URL, vendor="v", token="t", transport=httpx.MockTransport(respond)) as platform:
        pager = platform.itwins.list(concurrency=3, eager=True, limit=3, page_size=1)
        found = await asyncio.gather(pager.collect(), pager.collect())
    assert [len(items) for items in found] == [1, 1]
    assert set(caps) == {"10000", "9999"}


@pytest.mark.parametrize("checked", [True, False])
async def test_list_all_lowers_the_cap_once(*, checked: bool) -> None:
    """All ranges, and the looks between them, are requested with the cap that the service accepts."""
    seen: list[tuple[str, str]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers["x-max-return"], request.url.params.get("$filter", "")))
        if seen[-1][0] == "10000":
            return httpx.Response(422, json=INVALID_HEADER)
        looked = [{"createdDateTime": "2026-01-01T00:00:00Z"}] if len(seen) == 2 else []
        return httpx.Response(200, json={"iTwins": looked if "$select" in request.url.params else [{"id": "a"}]})

    async with PlatformClient(
        BASE_URL, vendor="v", token="t", transport=httpx.MockTransport(respond), check_requests=checked
    ) as platform:
        assert len(await platform.itwins.list_all(filter="a eq 1").collect()) == 3
    time = "(a eq 1) and createdDateTime"
    assert seen[1:] == [
        ("9999", "a eq 1"),
        ("9999", f"{time} lt 2026-01-01T00:00:00.000000Z"),
        ("9999", f"{time} ge 2026-01-01T00:00:00.000000Z"),
        ("9999", f"{time} ge 2026-01-01T00:00:00.000000Z"),
        ("9999", f"{time} eq null"),
    ]


async def test_a_lower_cap_that_is_rejected_is_an_error(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Only the value that the description is of two minds about is changed, and only once."""
    httpx_mock.add_response(422, json=INVALID_HEADER, is_reusable=True)
    with pytest.raises(UnprocessableError):
        await platform.itwins.list(max_return=9999).collect()
    with pytest.raises(UnprocessableError):
        await platform.itwins.list().collect()
    assert [request.headers["x-max-return"] for request in httpx_mock.get_requests()] == ["9999", "10000", "9999"]


@pytest.mark.parametrize(
    "detail", [{"code": "InvalidValue", "target": "X-Max-Return"}, {"code": "InvalidHeaderValue", "target": "Prefer"}]
)
async def test_other_errors_do_not_lower_the_cap(
    platform: PlatformClient, httpx_mock: HTTPXMock, detail: dict[str, str]
) -> None:
    """A 422 for another reason is the caller's to see."""
    httpx_mock.add_response(422, json={"error": {"code": "InvalidiTwinsRequest", "details": [detail]}})
    with pytest.raises(UnprocessableError):
        await platform.itwins.list().collect()


@pytest.mark.parametrize(
    ("echo", "max_return", "truncated"),
    [({}, 2, True), ({"x-max-return": "2"}, 2, True), ({"X-MAX-RETURN": "3"}, 3, False)]
    + [({"X-Max-Return": text}, 2, True) for text in ("", "0", "many", "-2", "٢", "9" * 30)],
)
@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
async def test_the_echoed_cap(
    platform: PlatformClient, httpx_mock: HTTPXMock, echo: dict[str, str], max_return: int, *, truncated: bool
) -> None:
    """The value that the service echoes counts; what is no number is taken for the one that was asked for."""
    headers = [(name.encode(), value.encode()) for name, value in echo.items()]
    httpx_mock.add_response(json=itwin_page("a", "b"), headers=headers)
    pager = platform.itwins.list(max_return=2)
    await pager.collect()
    assert (pager.max_return, pager.truncated) == (max_return, truncated)


async def test_a_page_that_is_none(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """A success without the list is an error, and not an empty page."""
    httpx_mock.add_response(json={"_links": {}})
    with pytest.raises(ResponseDecodeError, match="has no list"):
        await platform.itwins.list().collect()


@pytest.mark.parametrize("keyword", ["sub_class", "select", "status", "filter", "order_by"])
async def test_none_is_not_the_same_as_omitted(platform: PlatformClient, keyword: str) -> None:
    """None stands for null, which no parameter takes."""
    with pytest.raises(UsageError, match="cannot be None: omit it"):
        platform.itwins.list(**{keyword: None})  # type: ignore[arg-type]  # wrong on purpose


async def test_another_representation_is_rejected(platform: PlatformClient) -> None:
    """There are two, and a third would be dropped without a word."""
    with pytest.raises(UsageError, match="'minimal' or 'full'"):
        platform.itwins.list(representation="most")  # type: ignore[arg-type]  # wrong on purpose


async def test_with_checks_lifted_the_service_decides(httpx_mock: HTTPXMock) -> None:
    """What the description forbids is sent when the caller says so."""
    httpx_mock.add_response(json=itwin_page())
    async with PlatformClient(BASE_URL, vendor="vendor", token="t", check_requests=False) as client:
        await client.itwins.list(number="1", search="2", skip=-1, page_size=5000, max_return=20_000).collect()
    assert queries(httpx_mock) == ["number=1&$search=2&$skip=-1&$top=5000"]
    assert httpx_mock.get_requests()[0].headers["x-max-return"] == "20000"
