"""A success that is not what the description says is one error that keeps the response."""

import pytest
from itwin_platform import BackoffPolicy, PlatformClient, ResponseDecodeError
from pytest_httpx import HTTPXMock

from tests.operations.conftest import BASE_URL, CALLS, IDS, OPERATIONS

#: Where a response holds what was asked for; a webhook comes without an outer object.
WRAPPERS = {
    "update_repository": "repository",
    "create_repository_resource": "resource",
    "list_itwins": "iTwins",
    "get_primary_account": "iTwin",
    "create_scene": "scene",
    "list_scene_objects": "objects",
    "create_detector": "detector",
}
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
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_body_that_is_no_object_is_a_decode_error(
    name: str, body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Status, headers and body stay on the error, and the correlation id is in its text."""
    status = OPERATIONS[name].success
    httpx_mock.add_response(status_code=status, content=body, headers={"x-correlation-id": "of-the-service"})
    with pytest.raises(ResponseDecodeError, match="of-the-service") as caught:
        await CALLS[name](platform, IDS)
    assert (caught.value.status, caught.value.body) == (status, body)
    assert caught.value.headers["X-Correlation-ID"] == caught.value.correlation_id == "of-the-service"


@pytest.mark.parametrize("value", [None, "text", 1, True], ids=repr)
@pytest.mark.parametrize(("name", "wrapper"), WRAPPERS.items())
async def test_a_wrapper_that_holds_no_object_is_a_decode_error(
    name: str, wrapper: str, value: object, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A null or misshapen outer object is not handed out as a result."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json={wrapper: value})
    with pytest.raises(ResponseDecodeError, match="which the specification requires"):
        await CALLS[name](platform, IDS)


@pytest.mark.parametrize("body", [{}, {"error": {"code": "x"}}], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_an_object_without_what_was_asked_for_is_a_decode_error(
    name: str, body: dict[str, object], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A missing outer object, or for a webhook an object with none of its fields, is not handed out as a result."""
    httpx_mock.add_response(status_code=OPERATIONS[name].success, json=body)
    with pytest.raises(ResponseDecodeError):
        await CALLS[name](platform, IDS)


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
    assert await CALLS[name](platform, IDS) == await CALLS[name](platform, IDS)
