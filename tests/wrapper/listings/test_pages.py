"""The requests of pages, X-Max-Return, and the state of a scene. Sources: sections 4.3, 4.6."""

from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from itwin_platform import SceneState, UsageError

from tests.wrapper.listings.conftest import BASE_URL, ITWIN, SCENE, LinkedPages, itwin_page, linked, object_page

pytestmark = pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")


@pytest.mark.parametrize(
    ("name", "value", "max_return", "truncated"),
    [
        *(("x", "", 2, True), ("x-max-return", "2", 2, True), ("X-MAX-RETURN", "3", 3, False)),
        *(("X-Max-Return", value, 2, True) for value in ("", "0", "many", "-2", "٢", "9" * 30)),
    ],
)
async def test_the_echoed_cap(name: str, value: str, max_return: int, *, truncated: bool) -> None:
    """The echoed cap counts; an invalid one counts as the requested cap."""
    page = httpx.Response(200, json=itwin_page("a", "b"), headers=[(name.encode(), value.encode())])
    await (pager := LinkedPages([page]).platform.itwins.list(max_return=2)).collect()
    assert (pager.max_return, pager.truncated) == (max_return, truncated)


@pytest.mark.parametrize(
    ("got", "cap", "skip", "limit", "has_next", "truncated", "continues"),
    [
        (10, 20, 0, None, True, False, True),
        (10, 10, 0, None, True, True, False),
        (9, 10, 0, None, False, False, False),
        (10, 9, 0, None, False, True, False),
        (10, 15, 5, None, False, True, False),
        (10, 16, 5, None, False, False, False),
        (0, 10, 20, None, False, True, False),
        (10, 20, 0, 10, True, False, False),
        (10, 10, 0, 5, True, False, False),
    ],
)
async def test_where_the_cap_ends_a_listing(
    *, got: int, cap: int, skip: int, limit: int | None, has_next: bool, truncated: bool, continues: bool
) -> None:
    """A listing is truncated at the cap, unless the service has more below it; nothing past it is requested."""
    service = linked(f"?$skip={skip + got}" if has_next else None, "?$skip=500", count=got, cap=cap)
    pager = service.platform.itwins.list(page_size=10, skip=skip, limit=limit)
    async with aclosing(pager.pages()) as pages:
        await anext(pages)
        assert (pager.truncated, pager.max_return) == (truncated, cap)
        await anext(pages, None)
    assert len(service.requests) == 1 + continues


ITWINS: dict[str, Any] = {"sub_class": ["Project", "Asset"], "order_by": "displayName ASC", "include_inactive": False}
ITWINS |= {"representation": "full", "query_scope": "OrganizationAdmin", "max_return": 50}
ITWINS |= dict.fromkeys(("type", "number", "display_name", "parent_id", "itwin_account_id"), "zür +1%&b=c")
OBJECTS = {"scene_id": SCENE, "itwin_id": ITWIN, "order_by": "displayName", "correlation_id": "activity-1"}


@pytest.mark.parametrize(
    ("listing", "keywords", "page"),
    [("itwins.list", ITWINS, itwin_page), ("scenes.list_objects", OBJECTS, object_page)],
)
async def test_every_keyword_goes_with_every_page(
    listing: str, keywords: dict[str, Any], page: Callable[..., dict[str, object]]
) -> None:
    """Each page has the parameters and headers of the first request, and the offset of the link."""
    service = LinkedPages([page("a", link="?$skip=7&$top=2"), page("b")])
    pager = attrgetter(listing)(service.platform)(**keywords, skip=5, page_size=2)
    assert [item.id for item in await pager.collect()] == ["a", "b"]
    first, second = service.requests
    assert dict(second.url.params) == {**first.url.params, "$skip": "7", "$top": "2"}
    assert (first.headers, first.url.path) == (second.headers, second.url.path)


async def test_with_checks_lifted_a_number_is_a_number() -> None:
    """With `check_requests=False`, an invalid page size or cap is still a UsageError."""
    itwins = LinkedPages([], checks=False).platform.itwins
    for name, value in (("skip", "many"), ("max_return", "x"), ("page_size", 0), ("page_size", "5")):
        wrong: Any = {name: value}
        with pytest.raises(UsageError, match=f"{name} must be an integer"):
            itwins.list(**wrong)
    with pytest.raises(UsageError, match="a keyword must not hold a lone", check=lambda error: error.argument is None):
        itwins.list(number="\ud800")


@pytest.mark.parametrize("link", ["{0}?$skip=2", "{0}/?$skip=2", "objects?$skip=2"])
async def test_the_next_page_of_a_scene(link: str) -> None:
    """The path of a link is compared with the encoded path of the request."""
    path = "/scenes/a%2Fb%3Fc%23d%20%25%C3%A4/objects"
    service = LinkedPages([object_page("a", "b", link=link.format(BASE_URL + path)), object_page("c")], checks=False)
    assert len(await service.platform.scenes.list_objects("a/b?c#d %ä", ITWIN, page_size=2).collect()) == 3
    assert [request.url.raw_path.partition(b"?")[0].decode() for request in service.requests] == [f"/prefix{path}"] * 2


async def test_pages_of_a_scene_are_read_ahead() -> None:
    """The pages of a scene have the concurrency and the limit of the caller."""
    service = LinkedPages([object_page("a", "b", link=f"?$skip={skip}") for skip in range(2, 40, 2)], latencies=(1.0,))
    pager = service.platform.scenes.list_objects(SCENE, ITWIN, page_size=2, concurrency=3, limit=20)
    assert (len(await pager.collect()), service.most_in_flight) == (20, 3)


async def test_a_page_has_the_state_of_its_scene() -> None:
    """Each page shows the scene as it was; the pager says when objects are withheld and when the scene changed."""
    nine, ten = datetime(2026, 1, 1, 9, tzinfo=UTC), datetime(2026, 1, 1, 10, tzinfo=UTC)
    first = {"displayName": "S", "lastModified": nine.isoformat(), "isPartial": True}
    second = {"displayName": "S", "lastModified": ten.isoformat(), "isPartial": False}
    service = LinkedPages([object_page("a", "b", link="?$skip=2", **first), object_page("b", "c", **second)])
    pager = service.platform.scenes.list_objects(SCENE, ITWIN, page_size=2)
    assert [([item.id for item in page.items], page.scene) async for page in pager.pages()] == [
        (["a", "b"], SceneState(display_name="S", last_modified=nine, is_partial=True)),
        (["c"], SceneState(display_name="S", last_modified=ten, is_partial=False)),
    ]
    assert (pager.is_partial, pager.changed, pager.duplicates, pager.max_return) == (True, True, 1, None)


@pytest.mark.parametrize(
    ("pages", "handed_out", "changed", "duplicates"),
    [
        # Before a change everything is kept; after it, repeated objects are dropped.
        (["a b a", "b c@10", "c d b@10"], "a b a c d", True, 3),
        (["a -", "- - b a@10"], "a - - - b", True, 1),
        (["a", "b@", "c@9", "a"], "a b c a", False, 0),
        (["a@", "b@10", "a@10"], "a b a", False, 0),
        (["a", "b@10", "a@"], "a b", True, 1),
    ],
)
async def test_objects_of_a_changed_scene_come_once(
    pages: list[str], handed_out: str, duplicates: int, *, changed: bool
) -> None:
    """After a change, repeated objects are dropped and counted; objects without an id (-) are kept."""
    pager = changing(pages).platform.scenes.list_objects(SCENE, ITWIN)
    assert [item.id or "-" for item in await pager.collect()] == handed_out.split()
    assert (pager.changed, pager.duplicates, pager.items_read) == (changed, duplicates, len(handed_out.split()))


def changing(pages: list[str]) -> LinkedPages:
    """Pages of a scene, each with the ids of its objects and the hour of the last modification; 9 by default."""
    bodies = []
    for number, (ids, at, hour) in enumerate((page.partition("@") for page in pages), 1):
        modified = f"2026-01-01T{int(hour or 9):02}:00:00Z" if hour or not at else None
        link = f"?$skip={number * 10}" if number < len(pages) else None
        bodies.append(object_page(*ids.split(), link=link, lastModified=modified))
    return LinkedPages(bodies)


async def test_resuming_in_a_changed_scene() -> None:
    """A resumed listing of a changed scene returns no object twice, and notices the change."""
    service = changing(["a", "a b c@10", "a b c d@11"])
    pager = service.platform.scenes.list_objects(SCENE, ITWIN)
    async with aclosing(aiter(pager)) as items:
        assert [(await anext(items)).id, (await anext(items)).id] == ["a", "b"]
    rest = service.platform.scenes.list_objects(SCENE, ITWIN, resume=pager.resume)
    assert [item.id for item in await rest.collect()] == ["c", "d"]
    assert rest.changed
    assert unquote(service.queries[-1]) == unquote(service.queries[-2])


@pytest.mark.parametrize(
    "context", [{}, None, {"displayName": None, "lastModified": None, "isPartial": None}, {"lastModified": "lately"}]
)
async def test_a_scene_without_a_state(context: object) -> None:
    """Missing and null fields, and a missing state, lose no object."""
    service = LinkedPages([{"objects": [{"id": "a"}], "sceneContext": context}])
    page = await service.platform.scenes.list_objects(SCENE, ITWIN).first_page()
    state = SceneState(display_name=None, last_modified=None, is_partial=False)
    assert ([item.id for item in page.items], page.scene) == (["a"], None if context is None else state)


async def test_another_scene_is_another_listing() -> None:
    """A resume of one scene is rejected by another, and by a listing of iTwins; the correlation id may differ."""
    platform = LinkedPages([]).platform
    resume = platform.scenes.list_objects(SCENE, ITWIN, correlation_id="one").resume
    platform.scenes.list_objects(SCENE, ITWIN, correlation_id="two", resume=resume)
    for scene, skip in ((SCENE.replace("6", "7"), 0), (SCENE, 1)):
        with pytest.raises(UsageError, match="belongs to another listing"):
            platform.scenes.list_objects(scene, ITWIN, skip=skip, resume=resume)
    with pytest.raises(UsageError, match="belongs to another listing", check=lambda error: error.argument == "resume"):
        platform.itwins.list(resume=resume)
