"""What the pages of both listings ask for, and what those of objects say of the scene. Sources: sections 4.3, 4.6."""

from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from itwin_platform import PlatformClient, SceneState, UsageError
from pytest_httpx import HTTPXMock

from tests.support.prepared_pages import BASE_URL, ITWIN, SCENE, LinkedPages, itwin_page, object_page, queries

NINE, TEN = "2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z"


ITWINS: dict[str, Any] = {
    **dict.fromkeys(("type", "number", "display_name", "parent_id", "itwin_account_id"), "zür +1%&b=c"),
    "sub_class": ["Project", "Asset"],
    "order_by": "displayName ASC",
    "include_inactive": False,
    "representation": "full",
    "query_scope": "OrganizationAdmin",
    "max_return": 50,
}
OBJECTS = {"scene_id": SCENE, "itwin_id": ITWIN, "order_by": "displayName", "correlation_id": "activity-1"}


@pytest.mark.parametrize(
    ("listing", "keywords", "page"),
    [("itwins.list", ITWINS, itwin_page), ("scenes.list_objects", OBJECTS, object_page)],
)
async def test_every_keyword_goes_with_every_page(
    listing: str,
    keywords: dict[str, Any],
    page: Callable[..., dict[str, object]],
    platform: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """Parameters and headers of the first request are those of the others, with the place that the link names."""
    httpx_mock.add_response(json=page("a", link="?$skip=7&$top=2"))
    httpx_mock.add_response(json=page("b"))
    pager = attrgetter(listing)(platform)(**keywords, skip=5, page_size=2)
    assert [item.id for item in await pager.collect()] == ["a", "b"]
    first, second = httpx_mock.get_requests()
    assert dict(second.url.params) == {**first.url.params, "$skip": "7", "$top": "2"}
    assert (first.headers, first.url.path) == (second.headers, second.url.path)


async def test_with_checks_lifted_the_service_decides(httpx_mock: HTTPXMock) -> None:
    """With `check_requests=False`, arguments that the documentation forbids are sent, but no size without an end."""
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


@pytest.mark.parametrize(
    "link",
    [f"{BASE_URL}/scenes/{SCENE}/objects?$skip=2", "objects?$skip=2", f"{BASE_URL}/scenes/{SCENE}/objects/?$skip=2"],
)
async def test_the_next_page(platform: PlatformClient, httpx_mock: HTTPXMock, link: str) -> None:
    """Absolute and relative links lead to the next page of the same scene."""
    httpx_mock.add_response(json=object_page("a", "b", link=link))
    httpx_mock.add_response(json=object_page("c"))
    assert len(await platform.scenes.list_objects(SCENE, ITWIN, page_size=2).collect()) == 3
    assert httpx_mock.get_requests()[1].url.path == f"/prefix/scenes/{SCENE}/objects"


@pytest.mark.parametrize("identity", ["a/b?c#d", "100 %", "ä"])
async def test_the_next_page_of_an_id_that_needs_escaping(httpx_mock: HTTPXMock, identity: str) -> None:
    """With checks lifted an id may be anything: the link is compared with the address that was sent to."""

    def pages(request: httpx.Request) -> httpx.Response:
        link = str(request.url.copy_with(query=b"$skip=1")) if b"skip" not in request.url.query else None
        return httpx.Response(200, json=object_page("x", link=link))

    httpx_mock.add_callback(pages, is_reusable=True)
    async with PlatformClient(BASE_URL, vendor="vendor", token="t", check_requests=False) as platform:
        assert len(await platform.scenes.list_objects(identity, ITWIN, page_size=1).collect()) == 2


async def test_what_a_page_says_of_the_scene(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Each page shows the scene as it was; the pager says when objects are withheld and when the scene changed."""
    httpx_mock.add_response(
        json=object_page("a", "b", link="?$skip=2", displayName="S", lastModified=NINE, isPartial=True)
    )
    httpx_mock.add_response(json=object_page("b", "c", displayName="S", lastModified=TEN, isPartial=False))
    pager = platform.scenes.list_objects(SCENE, ITWIN, page_size=2)
    pages = [page async for page in pager.pages()]
    assert [page.scene for page in pages] == [
        SceneState(display_name="S", last_modified=datetime(2026, 1, 1, 9, tzinfo=UTC), is_partial=True),
        SceneState(display_name="S", last_modified=datetime(2026, 1, 1, 10, tzinfo=UTC), is_partial=False),
    ]
    assert [[item.id for item in page.items] for page in pages] == [["a", "b"], ["c"]]
    assert (pager.is_partial, pager.changed, pager.duplicates, pager.max_return) == (True, True, 1, None)


@pytest.mark.parametrize(
    ("pages", "handed_out", "changed", "duplicates"),
    [
        # Before a change everything is kept; after it, what came before is dropped.
        (["a b a", "b c@10", "c d b@10"], "a b a c d", True, 3),
        (["a -", "- b a@10"], "a - - b", True, 1),
        (["a", "b@", "c@9", "a"], "a b c a", False, 0),
        (["a@", "b@10", "a@10"], "a b a", False, 0),
        (["a", "b@10", "a@"], "a b", True, 1),
    ],
)
async def test_objects_of_a_changed_scene_come_once(
    pages: list[str], handed_out: str, duplicates: int, *, changed: bool
) -> None:
    """After a change, what came before is dropped and counted; objects without an id (-) are all kept."""
    pager = changing(pages).platform.scenes.list_objects(SCENE, ITWIN)
    assert [item.id or "-" for item in await pager.collect()] == handed_out.split()
    assert (pager.changed, pager.duplicates, pager.items_read) == (changed, duplicates, len(handed_out.split()))


def changing(pages: list[str]) -> LinkedPages:
    """Pages of a scene, each with the ids of its objects and the hour of the last modification; 9 by default."""
    bodies = []
    for number, (ids, at, hour) in enumerate((page.partition("@") for page in pages), 1):
        modified = f"2026-01-01T{int(hour or 9):02}:00:00Z" if hour or not at else None
        link = f"?$skip={number * 10}" if number < len(pages) else None
        body = object_page(*ids.split(), link=link, lastModified=modified)
        body["objects"] = [{} if each == "-" else {"id": each} for each in ids.split()]
        bodies.append(body)
    return LinkedPages(pages=bodies)


async def test_resuming_in_a_changed_scene() -> None:
    """A run that stops behind a dropped object does not give the next one twice, and a change in between is noticed."""
    service = changing(["a", "a b c@10", "a b c d@11"])
    pager = service.platform.scenes.list_objects(SCENE, ITWIN)
    async with aclosing(aiter(pager)) as items:
        assert [(await anext(items)).id, (await anext(items)).id] == ["a", "b"]
    rest = service.platform.scenes.list_objects(SCENE, ITWIN, resume=pager.resume)
    assert [item.id for item in await rest.collect()] == ["c", "d"]
    assert rest.changed
    assert unquote(service.queries[-1]) == unquote(service.queries[-2])


@pytest.mark.parametrize(
    ("context", "state"),
    [
        ({}, SceneState(display_name=None, last_modified=None, is_partial=False)),
        (
            {"displayName": None, "lastModified": None, "isPartial": None},
            SceneState(display_name=None, last_modified=None, is_partial=False),
        ),
        (
            {"displayName": "", "lastModified": "lately"},
            SceneState(display_name=None, last_modified=None, is_partial=False),
        ),
        (None, None),
    ],
)
async def test_a_scene_that_says_nothing(
    platform: PlatformClient, httpx_mock: HTTPXMock, context: object, state: SceneState | None
) -> None:
    """Missing and null fields, and a missing state, lose no object."""
    httpx_mock.add_response(json={"objects": [{"id": "a"}], "sceneContext": context})
    (page,) = [page async for page in platform.scenes.list_objects(SCENE, ITWIN).pages()]
    assert ([item.id for item in page.items], page.scene) == (["a"], state)


async def test_another_scene_is_another_listing(platform: PlatformClient) -> None:
    """A resume of one scene is rejected by another, and by a listing of iTwins; the correlation id may differ."""
    resume = platform.scenes.list_objects(SCENE, ITWIN, correlation_id="one").resume
    platform.scenes.list_objects(SCENE, ITWIN, correlation_id="two", resume=resume)
    with pytest.raises(UsageError, match="belongs to another listing"):
        platform.scenes.list_objects(SCENE.replace("6", "7"), ITWIN, resume=resume)
    with pytest.raises(UsageError, match="belongs to another listing"):
        platform.itwins.list(resume=resume)


async def test_a_page_query_does_not_leak(httpx_mock: HTTPXMock) -> None:
    """A token provider that asks another service in the midst of a listing asks for what it asks for."""

    async def token() -> str:
        async with PlatformClient("https://other.example", vendor="v", token="other") as other:
            await other.itwins.get_primary_account()
        return "token"

    httpx_mock.add_response(
        url=f"{BASE_URL}/scenes/{SCENE}/objects?iTwinId=i&%24top=100", json=object_page("a", link="?$skip=1")
    )
    httpx_mock.add_response(url=f"{BASE_URL}/scenes/{SCENE}/objects?iTwinId=i&$top=100&$skip=1", json=object_page("b"))
    httpx_mock.add_response(
        url="https://other.example/itwins/myprimaryaccount", json={"iTwin": {"id": "a"}}, is_reusable=True
    )
    async with PlatformClient(BASE_URL, vendor="vendor", token=token) as platform:
        assert len(await platform.scenes.list_objects(SCENE, "i").collect()) == 2
