"""Create scene on the wire. Source: section 4.5."""

import copy
import types
from typing import Any

import httpx
import pytest
from itwin_platform import (
    UNSET,
    OutcomeUnknownError,
    PlatformClient,
    RepositoryResourceData,
    Scene,
    SceneObjectCreate,
    UsageError,
    Vector3d,
    View3dData,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, request_of, sent_json

CREATE = OPERATIONS["create_scene"]
RESOURCE = {"iTwinId": ITWIN, "repositoryId": "imodels", "id": "m", "class": "iModels"}
AXIS = {"x": 0, "y": 0.5, "z": 1e-7}
VIEW = {
    "position": AXIS,
    "direction": AXIS,
    "up": AXIS,
    "isOrthographic": False,
    "aspectRatio": 1.5,
    "near": 1,
    "far": 9,
}
VIEW |= {"ecefTransform": [1.0] * 16}


@pytest.mark.parametrize(
    ("keywords", "body"),
    [
        ({}, b'{"displayName":"S"}'),
        ({"id": UNSET, "objects": UNSET}, b'{"displayName":"S"}'),
        ({"id": SCENE}, b'{"displayName":"S","id":"' + SCENE.encode() + b'"}'),
        ({"description": ""}, b'{"displayName":"S","description":""}'),
        ({"parent_id": SCENE.upper()}, b'{"displayName":"S","parentId":"' + SCENE.upper().encode() + b'"}'),
        ({"objects": []}, b'{"displayName":"S","sceneData":{"objects":[]}}'),
    ],
    ids=["required", "UNSET", "id", "description", "parent_id", "no objects"],
)
async def test_only_what_is_given_is_sent(
    keywords: dict[str, Any], body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The iTwin goes into the query, the rest into the body, and what is omitted nowhere."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.scenes.create(ITWIN, display_name="S", **keywords)
    request = request_of(httpx_mock)
    assert request.url.raw_path == f"/api/scenes/?iTwinId={ITWIN}".encode()
    assert request.content == body
    assert "x-correlation-id" not in request.headers


async def test_the_itwin_id_is_encoded_in_the_query(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """An iTwin id with any characters stays the one value of the one parameter."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.scenes.create("a&b=c#d é", display_name="S")
    assert request_of(httpx_mock).url.params.multi_items() == [("iTwinId", "a&b=c#d é")]


async def test_the_correlation_id_is_sent_when_given(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """It goes out as it is, in the documented header."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.scenes.create(ITWIN, display_name="S", correlation_id="activity 7/9")
    assert request_of(httpx_mock).headers["x-correlation-id"] == "activity 7/9"


async def test_a_correlation_id_is_never_null(platform: PlatformClient) -> None:
    """None is rejected here as it is where objects are listed."""
    with pytest.raises(UsageError, match="correlation_id must be a string"):
        await platform.scenes.create("i", display_name="S", correlation_id=None)  # type: ignore[arg-type]  # on purpose


async def test_objects_are_models_or_mappings_with_typed_or_plain_data(
    platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Both can be mixed, come from any iterable, and reach the wire in the same form; null and unknown stay."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    axis = Vector3d(x=0, y=0.5, z=1e-7)
    view = View3dData(
        position=axis,
        direction=axis,
        up=axis,
        near=1,
        far=9,
        is_orthographic=False,
        aspect_ratio=1.5,
        ecef_transform=[1.0] * 16,
    )
    resource = RepositoryResourceData.from_dict(RESOURCE)
    plain = {"kind": "Layer", "version": "1.0.0", "data": {"a": [None, {"b": True}]}, "order": 0.5, "new": None}
    objects = (
        SceneObjectCreate(kind="View3d", version="1.0.0", data=view, display_name="View"),
        SceneObjectCreate(kind="View3d", version="1.0.0", data=dict(VIEW), id=SCENE, visible=False, order=2),
        {"kind": "RepositoryResource", "version": "1.0.0", "data": resource, "relatedId": SCENE},
        types.MappingProxyType(plain),
    )
    await platform.scenes.create(ITWIN, display_name="S", objects=(each for each in objects))
    common = {"kind": "View3d", "version": "1.0.0", "data": VIEW}
    assert sent_json(httpx_mock)["sceneData"]["objects"] == [
        common | {"displayName": "View"},
        common | {"id": SCENE, "visible": False, "order": 2},
        {"kind": "RepositoryResource", "version": "1.0.0", "data": RESOURCE, "relatedId": SCENE},
        plain,
    ]


async def test_what_is_handed_in_is_not_changed(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Models, mappings and the data in them are as they were, and nothing of them is in the result."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    model = SceneObjectCreate(kind="View3d", version="1.0.0", data=copy.deepcopy(VIEW))
    model["new"] = {"a": [1]}
    mapping: dict[str, object] = {"kind": "View3d", "version": "1.0.0", "data": copy.deepcopy(VIEW)}
    before = copy.deepcopy((model, mapping))
    await platform.scenes.create(ITWIN, display_name="S", objects=[model, mapping, model])
    assert (model, mapping) == before
    assert type(model.data) is type(mapping["data"]) is dict


async def test_the_scene_is_unwrapped_with_typed_data(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The result is the scene itself; the data of known kinds is typed, and nothing is lost."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    scene = await platform.scenes.create(ITWIN, display_name="S")
    assert type(scene) is Scene
    assert scene.to_dict() == CREATE.sample()["scene"]
    assert (scene.id, scene.itwin_id) == (SCENE, ITWIN)
    resource, view = (each.data for each in scene.scene_data.objects)
    assert type(resource) is RepositoryResourceData
    assert type(view) is View3dData
    assert (resource.itwin_id, view.up.z, view.fov) == (ITWIN, 1.0, 1.25)


@pytest.mark.parametrize("scene_data", [None, {"objects": None}, {"objects": [{}]}, {}], ids=repr)
async def test_scene_data_of_any_shape_is_no_obstacle(
    scene_data: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Null and missing objects stay as they came."""
    httpx_mock.add_response(status_code=201, json={"scene": {"id": SCENE, "sceneData": scene_data}})
    scene = await platform.scenes.create(ITWIN, display_name="S")
    assert scene.to_dict() == {"id": SCENE, "sceneData": scene_data}


async def test_a_scene_as_seen_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Objects given as a link, unknown fields, and times without milliseconds are taken."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample(seen=True))
    scene = await platform.scenes.create(ITWIN, display_name="S")
    expected = CREATE.sample(seen=True)["scene"] | {"creationTime": "2025-05-04T04:14:08.000Z"}
    assert scene.to_dict() == expected


@pytest.mark.parametrize("scene_id", [UNSET, SCENE])
async def test_a_lost_response_names_the_scene(scene_id: str, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The scene is not created twice; the error says which id was given, so that the caller can look."""
    httpx_mock.add_exception(httpx.ReadError("lost"))
    with pytest.raises(OutcomeUnknownError) as caught:
        await platform.scenes.create(ITWIN, display_name="S", id=scene_id)
    assert caught.value.scene_id == (scene_id or None)
    assert len(httpx_mock.get_requests()) == 1
