"""The result of each operation: an unwrapped, typed and complete model, or a typed and complete error."""

import re
from typing import Any, get_args, get_type_hints

import attrs
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


def wire_of(result: Any) -> Any:
    """A result, or the items of a listing, in wire names."""
    return [each.to_dict() for each in result] if isinstance(result, list) else result.to_dict()


TYPES = {name: result_of(name) for name in OPERATIONS}
#: The documented samples, and samples that the service has sent.
SAMPLES = [(name, seen) for name in OPERATIONS for seen in (False, True) if OPERATIONS[name].seen.exists() or not seen]
#: Times of another form than the documented one: the operation, the item, the property, and the documented form.
OTHER_TIMES = {
    ("list_itwins", 0, "createdDateTime"): "2022-06-09T17:26:11.130Z",
    ("list_itwins", 0, "lastModifiedDateTime"): "2015-11-05T19:10:42.971Z",
    ("list_scene_objects", 1, "creationTime"): "2025-05-04T04:14:08.000Z",
    ("create_scene", 0, "creationTime"): "2025-05-04T04:14:08.000Z",
}


@pytest.mark.parametrize(("name", "seen"), SAMPLES)
async def test_a_result_is_unwrapped_typed_and_complete(name: str, *, seen: bool, exchange: Exchange) -> None:
    """A result is the unwrapped model, and nothing of the response is lost."""
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
    assert wire_of(results) == expected
    assert attrs.asdict(results[0]).keys() == {field.name for field in attrs.fields(kind)}
    assert len(repr(result)) < 2000
    assert "planted" not in repr(result), "a stored secret does not show"


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_another_success_with_the_documented_body_is_decoded(name: str, status: int, exchange: Exchange) -> None:
    """Another 2xx with the documented body returns the result of the documented one."""
    assert await exchange(name, status_code=status) == await exchange(name)


NO_DATA: list[Any] = [None, {}, {"objects": [{}]}]
ODD: list[Any] = [None, 5, []]
WEBHOOK = OPERATIONS["update_webhook"].sample()
#: Values that are kept: null and missing properties, ids too, and unknown authentication.
KEPT: list[tuple[str, str | None, Any]] = [
    *(("create_scene", "scene", {"id": SCENE, "sceneData": data}) for data in NO_DATA),
    ("update_repository", "repository", {"id": "r", "authentication": {"type": "NewKind", "key": 5}}),
    ("update_webhook", None, WEBHOOK | {"id": None}),
    ("update_webhook", None, {name: WEBHOOK[name] for name in WEBHOOK if name != "id"}),
    ("list_itwins", "iTwins", [{"id": "a"}, {}, {"id": None}, {"id": "b"}]),
    ("list_scene_objects", "objects", [{"id": "a"}, {}, {"id": None}, {"id": "b"}]),
]


@pytest.mark.parametrize(("name", "wrapper", "value"), KEPT)
async def test_a_result_of_any_shape_loses_nothing(
    name: str, wrapper: str | None, value: Any, exchange: Exchange
) -> None:
    """A null or missing property is kept, and an item without an id is returned."""
    result = await exchange(name, json={wrapper: value, "sceneContext": None, "_links": None} if wrapper else value)
    assert wire_of(result) == value


#: An operation, a response without a result, and the text of the error.
WRONG: list[tuple[str, object, str]] = [
    *(
        (name, {wrapper: value}, f"{wrapper}: {'a list' if name.startswith('list') else 'an object'} was expected")
        for name, (_, wrapper) in TYPES.items()
        for value in ("text", True)
        if wrapper
    ),
    *((name, {held: None}, "which the specification requires") for name, (_, held) in TYPES.items() if held),
    *(("list_itwins", {"iTwins": [{"id": "a"}, odd]}, "iTwins[1]: an object was expected") for odd in ODD),
]
#: By operation: a value of another type in a response, and the warning.
STAYING: list[tuple[str, Any, str]] = [
    ("list_itwins", {"iTwins": [{}, {"number": 17, "status": 5}]}, "iTwins[1].number is a number, and 1 more"),
    ("list_itwins", {"iTwins": [{"id": "a"}], "_links": {"self": {"href": True}}}, "_links.self.href is a boolean"),
    ("list_scene_objects", {"objects": [{"kind": "View3d", "data": {"far": "1"}}]}, "objects[0].data.far is a string"),
    ("update_webhook", {"webhook": {"eventTypes": ["a", 5]}}, "webhook.eventTypes[1] is a number"),
]


@pytest.mark.parametrize(("name", "body", "place"), STAYING, ids=str)
async def test_a_value_of_another_type_stays_and_is_named(
    name: str, body: Any, place: str, exchange: Exchange, caplog: pytest.LogCaptureFixture
) -> None:
    """A value of another type is kept, and one warning names its place and its type, without the value."""
    found = await exchange(name, json=body)
    wrapper = TYPES[name][1]
    assert wire_of(found) == body.get(wrapper or "webhook", body)
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    method, success = OPERATIONS[name].method, OPERATIONS[name].success
    said = rf"{method} /\S+ -> {success}: another JSON type than documented: {re.escape(place)}"
    assert record.name == "itwin_platform"
    assert re.fullmatch(said, record.getMessage())


@pytest.mark.parametrize(("name", "body", "place"), WRONG, ids=str)
async def test_a_response_with_nothing_to_return_is_an_error(
    name: str, body: object, place: str, exchange: Exchange
) -> None:
    """The error names the place and the expected type without the value, and a listing can be resumed."""
    with pytest.raises(ResponseDecodeError) as caught:
        await exchange(name, json=body)
    assert place in str(caught.value)
    assert (caught.value.method, caught.value.resume is not None) == (OPERATIONS[name].method, name.startswith("list"))


@pytest.mark.parametrize("body", [b"[", b"{}"])
async def test_a_decode_error_counts_the_requests_that_were_sent(body: bytes, exchange: Exchange) -> None:
    """`attempts` includes the retries before the broken response."""
    exchange.mock.add_response(status_code=503)
    exchange.mock.add_response(content=body)
    async with PlatformClient(BASE_URL, vendor="v", token="t", backoff=BackoffPolicy(base_delay=0.0)) as platform:
        with pytest.raises(ResponseDecodeError) as caught:
            await called(platform, "get_primary_account")
    assert caught.value.attempts == 2


#: The name of the class of each documented status.
EXCEPTIONS = {400: "BadRequest", 401: "Authentication", 403: "PermissionDenied", 404: "NotFound", 409: "Conflict"}
EXCEPTIONS |= {413: "RequestTooLarge", 422: "Unprocessable", 429: "RateLimit"}
DOCUMENTED = [
    pytest.param(name, status, body, id=f"{name}-{status}-{example}")
    for name, operation in OPERATIONS.items()
    for status, example, body in operation.errors
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
    assert (type(error).__name__, error.status) == (f"{EXCEPTIONS[status]}Error", status)
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
