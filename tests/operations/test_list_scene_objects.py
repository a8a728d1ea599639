"""The first request of list scene objects, and its items. Source: section 4.6."""

from datetime import UTC, datetime
from typing import Any

import pytest
from itwin_platform import PlatformClient, RepositoryResourceData, SceneObject, View3dData
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, request_of

LIST = OPERATIONS["list_scene_objects"]


@pytest.mark.parametrize(
    ("keywords", "query"),
    [
        ({}, b"iTwinId=%s&$top=100"),
        ({"order_by": "displayName"}, b"iTwinId=%s&orderBy=displayName&$top=100"),
        ({"page_size": 1, "skip": 5}, b"iTwinId=%s&$top=1&$skip=5"),
    ],
    ids=str,
)
async def test_keywords_become_the_documented_parameters(
    keywords: dict[str, Any], query: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is given is sent under its documented name, and nothing else."""
    httpx_mock.add_response(json=LIST.sample())
    await platform.scenes.list_objects(SCENE, ITWIN, **keywords).collect()
    request = request_of(httpx_mock)
    assert request.url.path == f"/api/scenes/{SCENE}/objects"
    assert sorted(request.url.query.split(b"&")) == sorted((query % ITWIN.encode()).split(b"&"))
    assert "x-correlation-id" not in request.headers


async def test_the_correlation_id_is_sent_when_given(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """It goes out as it is, in the documented header."""
    httpx_mock.add_response(json=LIST.sample())
    await platform.scenes.list_objects(SCENE, ITWIN, correlation_id="activity-7").collect()
    assert request_of(httpx_mock).headers["x-correlation-id"] == "activity-7"


async def test_objects_are_typed_by_their_kind(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Every documented field is read, and the data of the two shown kinds is typed."""
    httpx_mock.add_response(json=LIST.sample())
    found = await platform.scenes.list_objects(SCENE, ITWIN).collect()
    assert [type(each) for each in found] == [SceneObject, SceneObject]
    assert [each.to_dict() for each in found] == LIST.sample()["objects"]
    assert type(found[0].data) is RepositoryResourceData
    assert type(found[1].data) is View3dData
    assert found[0].creation_time == datetime(2025, 5, 4, 4, 14, 8, tzinfo=UTC)


async def test_objects_as_seen_lose_no_page(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Missing fields, integers, another version of a kind and a kind that is not shown are read as they are."""
    httpx_mock.add_response(json=LIST.sample(seen=True))
    resource, view, animation, bare = await platform.scenes.list_objects(SCENE, ITWIN).collect()
    expected = LIST.sample(seen=True)["objects"]
    expected[1] |= {"creationTime": "2025-05-04T04:14:08.000Z"}
    assert [each.to_dict() for each in (resource, view, animation, bare)] == expected
    assert resource.data["version"] == "1.0.0"
    assert type(view.data) is View3dData
    assert type(view.data.near) is int
    assert type(animation.data) is dict
    assert bare.data is None


@pytest.mark.parametrize("odd", [{}, {"id": None}], ids=repr)
async def test_an_object_of_any_shape_loses_no_other(
    odd: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is no object, or has no id, stays as it came, between those that are as described."""
    first, second = LIST.sample()["objects"]
    httpx_mock.add_response(json={"objects": [first, odd, second], "sceneContext": None, "_links": None})
    found = await platform.scenes.list_objects(SCENE, ITWIN).collect()
    assert [each.to_dict() if isinstance(each, SceneObject) else each for each in found] == [first, odd, second]
