"""The first request of list iTwins, and its items. Source: section 4.3."""

from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest
from itwin_platform import (
    DataCenterLocation,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    PlatformClient,
    QueryScope,
    ResponseDecodeError,
    UsageError,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import OPERATIONS, request_of

LIST = OPERATIONS["list_itwins"]


class Name(str, Enum):  # noqa: UP042 - `str()` of a member of a StrEnum is its value
    """An enum of an application, whose members are strings."""

    DISPLAY = "displayName"


ASSET, PROJECT = ITwinSubClass.ASSET, ITwinSubClass.PROJECT


async def sent(platform: PlatformClient, mock: HTTPXMock, **keywords: Any) -> tuple[bytes, dict[str, str]]:
    """The query of the request as bytes, and its headers."""
    mock.add_response(json=LIST.sample())
    await platform.itwins.list(**keywords).collect()
    request = request_of(mock)
    assert request.content == b""
    assert request.url.path == "/api/itwins/"
    return request.url.query, dict(request.headers)


@pytest.mark.parametrize(
    ("keywords", "query"),
    [
        ({}, b"$top=1000"),
        ({"sub_class": ASSET}, b"subClass=Asset&$top=1000"),
        ({"sub_class": "Asset"}, b"subClass=Asset&$top=1000"),
        ({"select": [Name.DISPLAY], "parent_id": Name.DISPLAY}, b"parentId=displayName&$select=displayName&$top=1000"),
        ({"sub_class": [ASSET, "Project"]}, b"subClass=Asset%2CProject&$top=1000"),
        pytest.param({"sub_class": iter((PROJECT, "Road"))}, b"subClass=Project%2CRoad&$top=1000", id="any iterable"),
        ({"status": ITwinStatus.TRIAL}, b"status=Trial&$top=1000"),
        ({"status": "Archived"}, b"status=Archived&$top=1000"),
        ({"type": "Bridge & road"}, b"type=Bridge%20%26%20road&$top=1000"),
        ({"number": "P/17", "display_name": "é"}, b"number=P%2F17&displayName=%C3%A9&$top=1000"),
        ({"parent_id": "p", "itwin_account_id": "a"}, b"parentId=p&iTwinAccountId=a&$top=1000"),
        ({"search": "a+b"}, b"$search=a%2Bb&$top=1000"),
        ({"select": "id"}, b"$select=id&$top=1000"),
        ({"select": ("id", "number")}, b"$select=id%2Cnumber&$top=1000"),
        (
            {"filter": "number eq 'a''b'", "sub_class": ASSET},
            b"subClass=Asset&$filter=number%20eq%20%27a%27%27b%27&$top=1000",
        ),
        ({"order_by": "displayName ASC"}, b"$orderby=displayName%20ASC&$top=1000"),
        ({"include_inactive": True}, b"includeInactive=true&$top=1000"),
        ({"include_inactive": False}, b"includeInactive=false&$top=1000"),
        ({"page_size": 1, "skip": 7}, b"$top=1&$skip=7"),
        ({"page_size": 1000, "skip": 0, "limit": 3}, b"$top=1000"),
        ({"page_size": None, "limit": 3}, b"$top=3"),
        ({"limit": 1}, b"$top=1"),
        ({"limit": 5000}, b"$top=1000"),
    ],
    ids=str,
)
async def test_keywords_become_the_documented_parameters(
    keywords: dict[str, Any], query: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is given is sent under its documented name, several values joined by a comma; nothing else is sent."""
    found, headers = await sent(platform, httpx_mock, **keywords)
    assert sorted(found.split(b"&")) == sorted(query.split(b"&"))
    assert not {"prefer", "x-itwin-query-scope"} & headers.keys()


@pytest.mark.parametrize(
    ("keywords", "header", "value"),
    [
        ({}, "x-max-return", "10000"),
        ({"max_return": 9}, "x-max-return", "9"),
        ({"representation": "minimal"}, "prefer", "return=minimal"),
        ({"representation": "full"}, "prefer", "return=representation"),
        ({"select": "id", "representation": "minimal"}, "prefer", "return=minimal"),
        ({"query_scope": QueryScope.ORGANIZATION_ADMIN}, "x-itwin-query-scope", "OrganizationAdmin"),
        ({"query_scope": "MemberOfiTwin"}, "x-itwin-query-scope", "MemberOfiTwin"),
        ({"query_scope": "all"}, "x-itwin-query-scope", "all"),
    ],
    ids=str,
)
async def test_keywords_become_the_documented_headers(
    keywords: dict[str, Any], header: str, value: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Three keywords travel as headers, under their documented names and values."""
    _, headers = await sent(platform, httpx_mock, **keywords)
    assert headers[header] == value


async def test_items_are_itwins_and_lose_nothing(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Items are ITwin models with every documented field: enums, aware datetimes, and None for null."""
    httpx_mock.add_response(json=LIST.sample())
    full, nulls = await platform.itwins.list(representation="full").collect()
    assert type(full) is ITwin
    assert [each.to_dict() for each in (full, nulls)] == LIST.sample()["iTwins"]
    assert full.data_center_location is DataCenterLocation.UK_SOUTH
    assert full.created_date_time == datetime(2022, 6, 9, 17, 26, 11, 130_000, tzinfo=UTC)
    assert full.itwin_account_id == "2f0c0f7e-5b1d-4a52-8c3e-6d7f8091a2b3"
    assert (nulls.latitude, nulls.parent_id, nulls.itwin_account_id) == (None, None, None)


async def test_items_as_seen_lose_no_page(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Times without a zone, unknown values, unknown and missing fields are read; only times change their form."""
    httpx_mock.add_response(json=LIST.sample(seen=True))
    found = await platform.itwins.list().collect()
    expected = LIST.sample(seen=True)["iTwins"]
    expected[0] |= {
        "createdDateTime": "2022-06-09T17:26:11.130Z",
        "lastModifiedDateTime": "2015-11-05T19:10:42.971Z",
    }
    assert [each.to_dict() for each in found] == expected
    assert isinstance(found[0].status, ITwinStatus)
    assert found[0].last_modified_date_time == datetime(2015, 11, 5, 19, 10, 42, 971_269, tzinfo=UTC)


@pytest.mark.parametrize("odd", [None, "text", 5, []], ids=repr)
async def test_an_item_that_is_no_object_is_named(odd: object, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The error names its position, and carries the response and where the listing continues."""
    httpx_mock.add_response(json={"iTwins": [{"id": "a"}, odd]})
    with pytest.raises(ResponseDecodeError, match=r"^GET /itwins/: .*iTwins\[1\]: an object was expected") as caught:
        await platform.itwins.list().collect()
    assert caught.value.resume is not None


@pytest.mark.parametrize("odd", [{}, {"id": None}], ids=repr)
async def test_an_item_of_any_shape_loses_no_other(
    odd: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What has no id stays as it came, between those that are as described."""
    first, second = LIST.sample()["iTwins"]
    httpx_mock.add_response(json={"iTwins": [first, odd, second], "_links": None})
    found = await platform.itwins.list().collect()
    assert [each.to_dict() if isinstance(each, ITwin) else each for each in found] == [first, odd, second]


async def test_odd_items_are_in_the_complete_listing_too(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """`list_all`, which drops what comes twice by its id, keeps what has none."""
    page = [{"id": "a"}, {}, {"id": None}, {"id": "a"}]
    httpx_mock.add_response(json={"iTwins": page})
    found = [each async for each in platform.itwins.list_all()]
    shown = [each.to_dict() if isinstance(each, ITwin) else each for each in found]
    assert shown == [{"id": "a"}, {}, {"id": None}]


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"order_by": 5}, "order_by must be a str"),
        ({"search": b"a"}, "search must be a str"),
        ({"number": 17}, "number must be a str"),
        ({"include_inactive": "yes"}, "include_inactive must be True or False"),
        ({"sub_class": 5}, "sub_class must be one str, or an iterable of them"),
        ({"select": ["id", None]}, "select must be one str, or an iterable of them"),
    ],
)
def test_a_value_of_another_kind_is_rejected_by_name(
    platform: PlatformClient, keywords: dict[str, Any], named: str
) -> None:
    """The error says which keyword it is about, before anything is sent."""
    with pytest.raises(UsageError, match=named):
        platform.itwins.list(**keywords)
