"""What a listing rejects at the call, before the first `async for`. Source: sections 4.3 and 4.6."""

from collections.abc import Callable
from typing import Any

import pytest
from itwin_platform import UNSET, PlatformClient, UsageError
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, request_of

REFUSED: list[tuple[dict[str, Any], str | None, str | None]] = [
    ({"search": "a", "number": "b"}, "InvalidParameter", "$search"),
    ({"search": "a", "display_name": "b"}, "InvalidParameter", "$search"),
    *(
        ({"filter": "f", keyword: "x"}, "InvalidParameter", "$filter")
        for keyword in ("status", "type", "number", "display_name", "parent_id", "itwin_account_id", "search")
    ),
    ({"include_inactive": False, "status": "Active"}, "InvalidParameter", "includeInactive"),
    *(({"page_size": value}, "InvalidValue", "$top") for value in (0, -1, 1001, True, 1.0)),
    *(({"skip": value}, "InvalidValue", "$skip") for value in (-1, None, 1.5)),
    *(({"max_return": value}, "InvalidHeaderValue", "X-Max-Return") for value in (0, 10_001, None)),
    *(({"sub_class": value}, "InvalidValue", "subClass") for value in ([], "", ["Asset", ""])),
    *(({"select": value}, "InvalidValue", "$select") for value in ((), "")),
    ({"status": ""}, "InvalidValue", "status"),
    ({"order_by": ""}, "InvalidValue", "$orderby"),
    ({"parent_id": ""}, "InvalidiTwinsRequest", None),
    ({"itwin_account_id": ""}, "InvalidiTwinsRequest", None),
    ({"select": "id", "representation": "full"}, None, None),
    ({"representation": "representation"}, None, None),
    ({"representation": {}}, None, None),
    ({"query_scope": "a\nb"}, None, None),
    ({"representation": None}, None, None),
    ({"query_scope": None}, None, None),
    ({"sub_class": None}, "InvalidValue", "subClass"),
    ({"status": None}, "InvalidValue", "status"),
    ({"select": None}, "InvalidValue", "$select"),
    ({"order_by": None}, "InvalidValue", "$orderby"),
    ({"include_inactive": "yes"}, "InvalidiTwinsRequest", None),
    *(
        ({keyword: None}, "InvalidiTwinsRequest", None)
        for keyword in (
            *("type", "number", "display_name", "parent_id", "itwin_account_id", "search", "filter"),
            "include_inactive",
        )
    ),
]
REFUSED_OF_OBJECTS: list[dict[str, Any]] = [
    {"page_size": 0},
    {"page_size": 101},
    {"skip": -1},
    {"order_by": None},
    {"correlation_id": None},
    {"correlation_id": "a\nb"},
]


@pytest.mark.parametrize(("keywords", "code", "target"), REFUSED, ids=lambda value: str(value)[:60])
async def test_list_itwins_rejects_at_the_call(
    keywords: dict[str, Any], code: str | None, target: str | None, platform: PlatformClient
) -> None:
    """The error comes from `list` itself, with the argument, and with the documented code and target."""
    with pytest.raises(UsageError) as caught:
        platform.itwins.list(**keywords)
    assert (caught.value.code, caught.value.target) == (code, target)
    assert (caught.value.argument or "query_scope").partition("[")[0] in keywords


@pytest.mark.parametrize("keywords", REFUSED_OF_OBJECTS, ids=str)
async def test_list_objects_rejects_at_the_call(keywords: dict[str, Any], platform: PlatformClient) -> None:
    """The error comes from `list_objects` itself; the description names no code for it."""
    with pytest.raises(UsageError):
        platform.scenes.list_objects(SCENE, ITWIN, **keywords)


async def test_list_objects_wants_a_uuid(platform: PlatformClient, unchecked: PlatformClient) -> None:
    """A scene id that has not the form of a UUID is rejected, unless the checks are lifted."""
    with pytest.raises(UsageError, match="scene_id must be a UUID"):
        platform.scenes.list_objects("scene-1", ITWIN)
    unchecked.scenes.list_objects("scene-1", ITWIN)


@pytest.mark.parametrize(
    ("keywords", "query", "headers"),
    [
        ({"search": "a", "number": "b"}, {"number": "b", "$search": "a", "$top": "1000"}, {}),
        ({"filter": "f", "status": "x"}, {"status": "x", "$filter": "f", "$top": "1000"}, {}),
        ({"page_size": 5000}, {"$top": "5000"}, {}),
        ({"max_return": 20_000}, {"$top": "1000"}, {"x-max-return": "20000"}),
        (
            {"select": "id", "representation": "full"},
            {"$select": "id", "$top": "1000"},
            {"prefer": "return=representation"},
        ),
        ({"sub_class": None, "status": None, "search": UNSET}, {"$top": "1000"}, {}),
    ],
    ids=str,
)
async def test_without_the_checks_it_is_sent(
    keywords: dict[str, Any],
    query: dict[str, str],
    headers: dict[str, str],
    unchecked: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """`check_requests=False` lifts these rules; a query has no null, so None is not sent."""
    httpx_mock.add_response(json=OPERATIONS["list_itwins"].sample())
    await unchecked.itwins.list(**keywords).collect()
    assert dict(request_of(httpx_mock).url.params) == query
    assert headers.items() <= dict(request_of(httpx_mock).headers).items()


@pytest.mark.parametrize("keyword", ["status", "query_scope", "sub_class"])
async def test_enum_membership_is_not_checked(keyword: str, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The service may know more values than this version does."""
    httpx_mock.add_response(json=OPERATIONS["list_itwins"].sample())
    listing: Callable[..., Any] = platform.itwins.list
    await listing(**{keyword: "NewValue"}).collect()
    request = request_of(httpx_mock)
    assert "NewValue" in (*request.url.params.values(), *request.headers.values())
