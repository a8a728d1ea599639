"""A success that is not what the description says is one error that keeps the response."""

import pytest
from itwin_platform import BackoffPolicy, PlatformClient, ResponseDecodeError
from pytest_httpx import HTTPXMock

from tests.operations.conftest import BASE_URL, OPERATIONS, called
from tests.operations.test_responses import TYPES

BROKEN = {
    "empty": b"",
    "text": b"done",
    "html": b"<html></html>",
    "half": b'{"iTwin": {',
    "not utf-8": b'{"iTwin": "\xff"}',
    "null": b"null",
    "list": b"[]",
    "number": b"1",
    "text in JSON": b'"iTwin"',
    "a number of 5000 digits": b'{"iTwin": ' + b"1" * 5000 + b"}",
    "too deep": b"[" * 100_000,
    "an object of nothing": b"{}",
    "an error": b'{"error": {"code": "x"}}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_body_without_what_was_asked_for_is_a_decode_error(
    name: str, body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Status, headers and body stay on the error, and the correlation id is in its text."""
    status = OPERATIONS[name].success
    httpx_mock.add_response(status_code=status, content=body, headers={"x-correlation-id": "of-the-service"})
    with pytest.raises(ResponseDecodeError, match="of-the-service") as caught:
        await called(platform, name)
    assert (caught.value.status, caught.value.body) == (status, body)
    assert caught.value.headers["X-Correlation-ID"] == caught.value.correlation_id == "of-the-service"


@pytest.mark.parametrize("value", [None, "text", 1, True], ids=repr)
@pytest.mark.parametrize(("name", "wrapper"), [(name, wrapper) for name, (_, wrapper) in TYPES.items() if wrapper])
async def test_a_wrapper_that_holds_no_object_is_a_decode_error(
    name: str, wrapper: str, value: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A null or misshapen outer object is not handed out as a result."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json={wrapper: value})
    said = f"{wrapper}: an? (object|list) was expected" if value else "which the specification requires"
    with pytest.raises(ResponseDecodeError, match=said):
        await called(platform, name)


#: By operation: what is wrong in a response, and where the error says that it is.
WRONG = [
    ("update_repository", {"repository": {"id": 5}}, "repository.id: a string"),
    ("update_repository", {"repository": {"authentication": {"type": "Basic", "password": 5}}}, "password: a string"),
    (
        "update_repository",
        {"repository": {"options": {"minimumLevel": "3"}}},
        "repository.options.minimumLevel: a number",
    ),
    ("create_repository_resource", {"resource": {"capabilities": []}}, "resource.capabilities: an object"),
    ("list_itwins", {"iTwins": [{}, {}, {}, {"status": 5}]}, "iTwins[3].status: a string"),
    ("list_itwins", {"iTwins": [{"latitude": "5"}]}, "iTwins[0].latitude: a number"),
    ("list_itwins", {"iTwins": [{"id": ["a"]}]}, "iTwins[0].id: a string"),
    ("get_primary_account", {"iTwin": {"id": True}}, "iTwin.id: a string"),
    ("create_scene", {"scene": {"parentId": 5, "sceneData": {"objects": []}}}, "scene.parentId: a string"),
    ("create_scene", {"scene": {"sceneData": {"objects": [{"visible": "no"}]}}}, "objects[0].visible: true or false"),
    ("create_scene", {"scene": {"sceneData": {"objects": "x"}}}, "scene.sceneData.objects: a list"),
    ("create_scene", {"scene": {"sceneData": {"objects": [None]}}}, "scene.sceneData.objects[0]: an object"),
    ("list_scene_objects", {"objects": [{"order": "1"}]}, "objects[0].order: a number"),
    (
        "list_scene_objects",
        {"objects": [], "sceneContext": {"isPartial": "yes"}},
        "sceneContext.isPartial: true or false",
    ),
    ("create_detector", {"detector": {"versions": 5}}, "detector.versions: a list"),
    ("update_webhook", {"eventTypes": ["a", 5]}, "eventTypes[1]: a string"),
    ("update_webhook", {"webhook": {"eventTypes": ["a", 5]}}, "webhook.eventTypes[1]: a string"),
]


@pytest.mark.parametrize(("name", "body", "place"), WRONG, ids=[place for _, _, place in WRONG])
async def test_a_value_of_another_type_is_named(
    name: str, body: dict[str, object], place: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The error says where the value is and what was expected, and nothing of the value."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json=body)
    with pytest.raises(ResponseDecodeError) as caught:
        await called(platform, name)
    assert str(caught.value).endswith(f"{place} was expected")
    assert caught.value.method == OPERATIONS[name].method
    assert str(caught.value).startswith(f"{caught.value.method} {caught.value.route}: response with status")


@pytest.mark.parametrize("kind", ["NewKind", 5], ids=repr)
async def test_authentication_of_an_unknown_type_is_kept(
    kind: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Its properties may have any type; only the type itself is a string."""
    body = {"repository": {"id": "r", "authentication": {"type": kind, "key": 5}}}
    httpx_mock.add_response(json=body)
    if kind == "NewKind":
        repository = await platform.repositories.update("i", "r", uri="u")
        assert repository.to_dict() == body["repository"]
        return
    with pytest.raises(ResponseDecodeError, match=r"repository\.authentication\.type: a string was expected"):
        await called(platform, "update_repository")


@pytest.mark.parametrize("body", [b"[", b"{}"])
async def test_a_decode_error_counts_the_requests_that_were_sent(body: bytes, httpx_mock: HTTPXMock) -> None:
    """`attempts` includes the retries before the broken response."""
    httpx_mock.add_response(status_code=503)
    httpx_mock.add_response(content=body)
    backoff = BackoffPolicy(base_delay=0.0)
    async with PlatformClient(BASE_URL, vendor="vendor", token="made-up", backoff=backoff) as platform:
        with pytest.raises(ResponseDecodeError) as caught:
            await platform.itwins.get_primary_account()
    assert caught.value.attempts == 2


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (name, status)
        for name, operation in OPERATIONS.items()
        for status in (200, 201, 202, 204, 206)
        if status != operation.success
    ],
)
async def test_another_success_with_the_documented_body_is_decoded(
    name: str, status: int, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The effect has happened, so an undocumented 2xx returns what the documented one returns."""
    operation = OPERATIONS[name]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample())
    httpx_mock.add_response(status_code=status, json=operation.sample())
    assert await called(platform, name) == await called(platform, name)
