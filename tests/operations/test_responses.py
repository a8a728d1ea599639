"""What each operation returns: the thing itself, typed, with nothing lost, as described and as seen beyond that."""

from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import pytest
from itwin_platform import (
    UNSET,
    DataCenterLocation,
    Detector,
    DetectorType,
    ITwin,
    ITwinClass,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    PlatformClient,
    Repository,
    RepositoryClass,
    RepositoryResourceData,
    RepositorySubClass,
    Resource,
    ResourceClass,
    ResponseDecodeError,
    Scene,
    SceneObject,
    View3dData,
    Webhook,
    WebhookScope,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, WEBHOOK, called

#: The type of a result, and the property of the response that holds it; a webhook comes bare as described.
TYPES: dict[str, tuple[type, str | None]] = {
    "update_repository": (Repository, "repository"),
    "create_repository_resource": (Resource, "resource"),
    "list_itwins": (ITwin, "iTwins"),
    "get_primary_account": (ITwinSummary, "iTwin"),
    "create_scene": (Scene, "scene"),
    "list_scene_objects": (SceneObject, "objects"),
    "create_detector": (Detector, "detector"),
    "update_webhook": (Webhook, None),
}
#: Times that were seen in another form than the documented one, which they get: the item of a list, the property.
OTHER_TIMES = {
    ("list_itwins", 0, "createdDateTime"): "2022-06-09T17:26:11.130Z",
    ("list_itwins", 0, "lastModifiedDateTime"): "2015-11-05T19:10:42.971Z",
    ("list_scene_objects", 1, "creationTime"): "2025-05-04T04:14:08.000Z",
    ("create_scene", 0, "creationTime"): "2025-05-04T04:14:08.000Z",
}
#: What a program reads of the results, or of the first two of several.
VALUES: dict[tuple[str, bool], list[dict[str, object]]] = {
    ("update_repository", False): [
        {"class_": RepositoryClass.GEOGRAPHIC_INFORMATION_SYSTEM, "sub_class": RepositorySubClass.URL_TEMPLATE}
    ],
    ("update_repository", True): [{"class_": "ProjectWise", "sub_class": "MapServer", "display_name": UNSET}],
    ("create_repository_resource", False): [
        {"class_": ResourceClass.GEOGRAPHIC_INFORMATION_SYSTEM, "id": "layer/1 #a?b%"}
    ],
    ("create_repository_resource", True): [{"class_": "Cesium", "sub_class": UNSET, "type_": UNSET}],
    ("list_itwins", False): [
        {
            "data_center_location": DataCenterLocation.UK_SOUTH,
            "created_date_time": datetime(2022, 6, 9, 17, 26, 11, 130_000, tzinfo=UTC),
            "itwin_account_id": "2f0c0f7e-5b1d-4a52-8c3e-6d7f8091a2b3",
        },
        {"latitude": None, "parent_id": None, "itwin_account_id": None},
    ],
    ("list_itwins", True): [
        {
            "status": ITwinStatus("Suspended"),
            "last_modified_date_time": datetime(2015, 11, 5, 19, 10, 42, 971_269, tzinfo=UTC),
        }
    ],
    ("get_primary_account", False): [
        {
            "class_": ITwinClass.ACCOUNT,
            "sub_class": ITwinSubClass.ACCOUNT,
            "status": ITwinStatus.ACTIVE,
            "type_": None,
        }
    ],
    ("get_primary_account", True): [{"status": UNSET, "additional_properties": {"dataCenterLocation": "East US"}}],
    ("create_scene", False): [{"id": SCENE, "itwin_id": ITWIN}],
    ("create_scene", True): [{"additional_properties.keys": ["tags", "lastModifiedById"]}],
    ("list_scene_objects", False): [
        {"data.__class__": RepositoryResourceData, "creation_time": datetime(2025, 5, 4, 4, 14, 8, tzinfo=UTC)},
        {"data.__class__": View3dData},
    ],
    ("list_scene_objects", True): [{}, {"data.__class__": View3dData, "data.near.__class__": int}],
    ("create_detector", False): [{"type_": DetectorType.PHOTO_OBJECT_DETECTOR, "display_name": None}],
    ("create_detector", True): [{"display_name": ""}],
    ("update_webhook", False): [{"scope": WebhookScope.ITWIN, "modified": "11/3/2023 8:07:01 PM"}],
    ("update_webhook", True): [
        {"event_types": ["accessControl.memberRoleUpdated.v1", "realityModeling.jobCompleted.v2"]}
    ],
}


@pytest.mark.parametrize("seen", [False, True], ids=["described", "seen"])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_result_is_unwrapped_typed_and_complete(
    name: str, *, seen: bool, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The result is the thing itself with typed values, and nothing of the response is lost."""
    operation = OPERATIONS[name]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample(seen=seen))
    result = await called(platform, name)
    results = result if isinstance(result, list) else [result]
    kind, wrapper = TYPES[name]
    sample = operation.sample(seen=seen)
    wire = sample.get(wrapper or "webhook", sample)
    expected = wire if isinstance(wire, list) else [wire]
    for (of, item, field), time in OTHER_TIMES.items():
        if seen and of == name:
            expected[item][field] = time
    assert [type(each) for each in results] == [kind] * len(expected)
    assert [each.to_dict() for each in results] == expected
    for each, values in zip(results, VALUES[name, seen], strict=False):
        assert {place: at(each, place) for place in values} == values
        assert [type(at(each, place)) for place in values] == [type(value) for value in values.values()] or seen
    assert "planted" not in repr(result), "a stored secret does not show"


def at(result: object, place: str) -> Any:
    """The value at a place; of keys, their list."""
    found = attrgetter(place)(result)
    return list(found()) if place.endswith(".keys") else found


@pytest.mark.parametrize("scene_data", [None, {"objects": None}, {"objects": [{}]}, {}], ids=repr)
async def test_scene_data_of_any_shape_is_no_obstacle(
    scene_data: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Null and missing objects stay as they came."""
    httpx_mock.add_response(status_code=201, json={"scene": {"id": SCENE, "sceneData": scene_data}})
    scene = await platform.scenes.create(ITWIN, display_name="S")
    assert scene.to_dict() == {"id": SCENE, "sceneData": scene_data}


@pytest.mark.parametrize("name", sorted(OPERATIONS["update_webhook"].sample()))
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
async def test_a_missing_or_null_field_loses_nothing(
    name: str, null: bool, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Any field may be missing or null, the id among them."""
    sample = OPERATIONS["update_webhook"].sample()
    body = {key: value for key, value in sample.items() if key != name} | ({name: None} if null else {})
    httpx_mock.add_response(json=body)
    assert (await platform.webhooks.activate(WEBHOOK)).to_dict() == body


async def test_a_secret_that_comes_back_shows_in_no_text(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The secret of a webhook stays out of the result's `repr`, even where the service returned it."""
    httpx_mock.add_response(json=OPERATIONS["update_webhook"].sample() | {"secret": "planted-secret"})
    assert "planted-secret" not in repr(await platform.webhooks.update(WEBHOOK, secret="planted-secret"))


@pytest.mark.parametrize("odd", [{}, {"id": None}], ids=repr)
@pytest.mark.parametrize("name", ["list_itwins", "list_scene_objects"])
async def test_an_item_of_any_shape_loses_no_other(
    name: str, odd: dict[str, object], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What has no id stays as it came, between those that are as described."""
    wrapper = str(TYPES[name][1])
    first, second = OPERATIONS[name].sample()[wrapper]
    httpx_mock.add_response(json={wrapper: [first, odd, second], "sceneContext": None, "_links": None})
    assert [each.to_dict() for each in await called(platform, name)] == [first, odd, second]


@pytest.mark.parametrize("odd", [None, "text", 5, []], ids=repr)
async def test_an_item_that_is_no_object_is_named(odd: object, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The error names its position, and carries the response and where the listing continues."""
    httpx_mock.add_response(json={"iTwins": [{"id": "a"}, odd]})
    with pytest.raises(ResponseDecodeError, match=r"^GET /itwins/: .*iTwins\[1\]: an object was expected") as caught:
        await platform.itwins.list().collect()
    assert caught.value.resume is not None


async def test_odd_items_are_in_the_complete_listing_too(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """`list_all`, which drops what comes twice by its id, keeps what has none."""
    httpx_mock.add_response(json={"iTwins": [{"id": "a"}, {}, {"id": None}, {"id": "a"}]})
    found = await platform.itwins.list_all().collect()
    assert [each.to_dict() for each in found] == [{"id": "a"}, {}, {"id": None}]
