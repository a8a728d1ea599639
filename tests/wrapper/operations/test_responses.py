"""What each operation returns: the thing itself, typed, with nothing lost; or a typed error that keeps everything."""

from typing import Any, get_args, get_type_hints

import itwin_platform
import pytest
from itwin_platform import APIStatusError, BackoffPolicy, ErrorCode, ErrorDetail, PlatformClient, ResponseDecodeError

from tests.support.calls import METHODS, SCENE
from tests.support.operations import OPERATIONS
from tests.support.public_face import CALLABLES
from tests.wrapper.operations.conftest import BASE_URL, Exchange, called


def result_of(name: str) -> tuple[Any, str | None]:
    """The type of a result, and the property of the response that holds it; None where it comes bare as described."""
    returned = get_type_hints(CALLABLES[METHODS[name][0]])["return"]
    return (get_args(returned) or (returned,))[0], OPERATIONS[name].held


TYPES = {name: result_of(name) for name in OPERATIONS}
#: The samples: as described, and those that have been seen.
SAMPLES = [(name, seen) for name in OPERATIONS for seen in (False, True) if OPERATIONS[name].seen.exists() or not seen]
#: Times that were seen in another form than the documented one, which they get: the item of a list, the property.
OTHER_TIMES = {
    ("list_itwins", 0, "createdDateTime"): "2022-06-09T17:26:11.130Z",
    ("list_itwins", 0, "lastModifiedDateTime"): "2015-11-05T19:10:42.971Z",
    ("list_scene_objects", 1, "creationTime"): "2025-05-04T04:14:08.000Z",
    ("create_scene", 0, "creationTime"): "2025-05-04T04:14:08.000Z",
}


@pytest.mark.parametrize(("name", "seen"), SAMPLES)
async def test_a_result_is_unwrapped_typed_and_complete(name: str, *, seen: bool, exchange: Exchange) -> None:
    """The result is a model of the thing itself, and nothing of the response is lost."""
    sample = OPERATIONS[name].sample(seen=seen)
    result = await exchange(name, json=sample)
    results = result if isinstance(result, list) else [result]
    kind, wrapper = TYPES[name]
    wire = sample.get(wrapper or "webhook", sample)
    expected = wire if isinstance(wire, list) else [wire]
    for (of, item, field), time in OTHER_TIMES.items():
        if seen and of == name:
            expected[item][field] = time
    assert [type(each) for each in results] == [kind] * len(expected)
    assert [each.to_dict() for each in results] == expected
    assert "planted" not in repr(result), "a stored secret does not show"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (name, status)
        for name in OPERATIONS
        for status in (200, 201, 202, 204, 206)
        if status != OPERATIONS[name].success
    ],
)
async def test_another_success_with_the_documented_body_is_decoded(name: str, status: int, exchange: Exchange) -> None:
    """The effect has happened, so an undocumented 2xx returns what the documented one returns."""
    assert await exchange(name, status_code=status) == await exchange(name)


WEBHOOK = OPERATIONS["update_webhook"].sample()
#: What is kept as it came: null, missing and misshapen properties, the id among them, and unknown authentication.
KEPT: list[tuple[str, str | None, Any]] = [
    *(("create_scene", "scene", {"id": SCENE, "sceneData": data}) for data in (None, {"objects": None}, {})),
    ("create_scene", "scene", {"id": SCENE, "sceneData": {"objects": [{}]}}),
    ("update_repository", "repository", {"id": "r", "authentication": {"type": "NewKind", "key": 5}}),
    *(("update_webhook", None, WEBHOOK | {name: None}) for name in WEBHOOK),
    *(("update_webhook", None, {key: WEBHOOK[key] for key in WEBHOOK if key != name}) for name in WEBHOOK),
    *(
        (name, wrapper, [{"id": "a"}, odd, {"id": "b"}])
        for name, wrapper in (("list_itwins", "iTwins"), ("list_scene_objects", "objects"))
        for odd in ({}, {"id": None})
    ),
]


@pytest.mark.parametrize(("name", "wrapper", "value"), KEPT)
async def test_a_result_of_any_shape_loses_nothing(
    name: str, wrapper: str | None, value: Any, exchange: Exchange
) -> None:
    """What is null or missing stays as it came; an item without an id loses no other."""
    result = await exchange(name, json={wrapper: value, "sceneContext": None, "_links": None} if wrapper else value)
    assert ([each.to_dict() for each in result] if isinstance(result, list) else result.to_dict()) == value


BROKEN = {
    "empty": b"",
    "text": b"done",
    "html": b"<html></html>",
    "half": b'{"iTwin": {',
    "null": b"null",
    "list": b"[]",
    "number": b"1",
    "text in JSON": b'"iTwin"',
    "too deep": b"[" * 100_000,
    "not utf-8": b'{"iTwin": "\xff"}',
    "a number of 5000 digits": b'{"iTwin": ' + b"1" * 5000 + b"}",
    "an object of nothing": b"{}",
    "an error": b'{"error": {"code": "x"}}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_body_without_what_was_asked_for_is_a_decode_error(name: str, body: bytes, exchange: Exchange) -> None:
    """Status, headers and body stay on the error, and the correlation id is in its text."""
    with pytest.raises(ResponseDecodeError, match="of-the-service") as caught:
        await exchange(name, content=body, headers={"x-correlation-id": "of-the-service"})
    assert (caught.value.status, caught.value.body) == (OPERATIONS[name].success, body)
    assert caught.value.headers["X-Correlation-ID"] == caught.value.correlation_id == "of-the-service"


ODD: list[Any] = [None, "text", 5, []]
#: By operation: what is wrong in a response, and where the error says that it is.
WRONG: list[tuple[str, object, str]] = [
    *(
        (name, {wrapper: value}, f"{wrapper}: {'a list' if name.startswith('list') else 'an object'}")
        for name, (_, wrapper) in TYPES.items()
        for value in ("text", 1, True)
        if wrapper
    ),
    *(("list_itwins", {"iTwins": [{"id": "a"}, odd]}, "iTwins[1]: an object") for odd in ODD),
    ("update_repository", {"repository": {"id": 5}}, "repository.id: a string"),
    ("update_repository", {"repository": {"authentication": {"type": "Basic", "password": 5}}}, "password: a string"),
    ("update_repository", {"repository": {"options": {"minimumLevel": "3"}}}, "options.minimumLevel: a number"),
    ("list_itwins", {"iTwins": [{}, {}, {}, {"status": 5}]}, "iTwins[3].status: a string"),
    ("create_scene", {"scene": {"sceneData": {"objects": [{"visible": "no"}]}}}, "objects[0].visible: true or false"),
    ("list_scene_objects", {"objects": [], "sceneContext": {"isPartial": "yes"}}, "isPartial: true or false"),
    ("create_detector", {"detector": {"versions": 5}}, "detector.versions: a list"),
    ("update_webhook", {"webhook": {"eventTypes": ["a", 5]}}, "webhook.eventTypes[1]: a string"),
]


@pytest.mark.parametrize(("name", "body", "place"), WRONG, ids=str)
async def test_a_value_of_another_type_is_named(name: str, body: object, place: str, exchange: Exchange) -> None:
    """The error says where the value is and what was expected, and nothing of the value; a listing can be resumed."""
    with pytest.raises(ResponseDecodeError) as caught:
        await exchange(name, json=body)
    error, operation = caught.value, OPERATIONS[name]
    assert str(error).endswith(f"{place} was expected")
    assert str(error).startswith(f"{operation.method} {error.route}: response with status")
    assert (error.method, error.resume is not None) == (operation.method, name.startswith("list"))


@pytest.mark.parametrize("body", [b"[", b"{}"])
async def test_a_decode_error_counts_the_requests_that_were_sent(body: bytes, exchange: Exchange) -> None:
    """`attempts` includes the retries before the broken response."""
    exchange.mock.add_response(status_code=503)
    exchange.mock.add_response(content=body)
    backoff = BackoffPolicy(base_delay=0.0)
    async with PlatformClient(BASE_URL, vendor="vendor", token="made-up", backoff=backoff) as platform:
        with pytest.raises(ResponseDecodeError) as caught:
            await called(platform, "get_primary_account")
    assert caught.value.attempts == 2


EXCEPTIONS: dict[int, type[APIStatusError]] = {
    400: itwin_platform.BadRequestError,
    401: itwin_platform.AuthenticationError,
    403: itwin_platform.PermissionDeniedError,
    404: itwin_platform.NotFoundError,
    409: itwin_platform.ConflictError,
    413: itwin_platform.RequestTooLargeError,
    422: itwin_platform.UnprocessableError,
    429: itwin_platform.RateLimitError,
}
DOCUMENTED = [
    pytest.param(name, status, body, id=f"{name}-{status}-{example}")
    for name, operation in OPERATIONS.items()
    for status, example, body in operation.errors
    if (name, example) != ("list_itwins", "maxReturn")  # which is retried with a lower X-Max-Return
]


@pytest.mark.parametrize(("name", "status", "body"), DOCUMENTED)
async def test_a_documented_error_is_typed_and_loses_nothing(
    name: str, status: int, body: dict[str, Any], exchange: Exchange
) -> None:
    """The class follows the status; code, message, target, details, headers and the correlation id are kept."""
    headers = {"X-Correlation-Id": "of-the-service"} | ({"retry-after": "7"} if status == 429 else {})
    with pytest.raises(APIStatusError) as caught:
        await exchange(name, status_code=status, json=body, headers=headers)
    error, said, text = caught.value, body["error"], str(caught.value)
    assert (type(error), error.status) == (EXCEPTIONS[status], status)
    assert error.code == said["code"] == ErrorCode(said["code"])
    assert said["code"] in list(ErrorCode)
    assert (error.message, error.target) == (said["message"], said["target"])
    assert error.details == tuple(ErrorDetail(**detail) for detail in said.get("details", []))
    assert error.headers["x-correlation-id"] == error.correlation_id == "of-the-service"
    assert error.attempts == len(exchange.mock.get_requests()) == 1
    assert f"{status} {said['code']}" in text
    assert "of-the-service" in text
    assert "planted-token" not in text + repr(error)
    assert (error.retryable, error.retry_at is not None) == (status == 429, status == 429)
    assert error.retry_after == (7.0 if status == 429 else None)
