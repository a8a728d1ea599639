"""Listings of iTwins as requests: keywords and rejected arguments."""

from typing import Any

import pytest
from itwin_platform import PlatformClient, ResponseDecodeError, UsageError
from pytest_httpx import HTTPXMock

from tests.support.prepared_pages import BASE_URL, itwin_page, queries, sent


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
    """With `check_requests=False`, arguments that the documentation forbids are sent."""
    httpx_mock.add_response(json=itwin_page())
    async with PlatformClient(BASE_URL, vendor="vendor", token="t", check_requests=False) as client:
        await client.itwins.list(number="1", search="2", skip=-1, page_size=5000, max_return=20_000).collect()
    assert queries(httpx_mock) == ["number=1&$search=2&$skip=-1&$top=5000"]
    assert httpx_mock.get_requests()[0].headers["x-max-return"] == "20000"
    wrong: Any
    for wrong in ({"skip": "many"}, {"page_size": 0}, {"page_size": -5}):
        with pytest.raises(UsageError, match="page_size must be an integer of at least 1"):
            client.itwins.list(**wrong)


@pytest.mark.parametrize("checks", [True, False])
async def test_what_cannot_be_encoded_is_rejected(checks: bool) -> None:
    """A string that cannot be sent is rejected when the listing is made, also with the checks lifted."""
    async with PlatformClient(BASE_URL, vendor="vendor", token="t", check_requests=checks) as client:
        with pytest.raises(UsageError, match="half of a surrogate pair"):
            client.itwins.list(number="\ud800")
