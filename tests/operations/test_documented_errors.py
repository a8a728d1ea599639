"""Every error that the specification documents for an operation becomes its typed exception. Source: section 7."""

from typing import Any

import pytest
from itwin_platform import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ErrorCode,
    ErrorDetail,
    NotFoundError,
    PermissionDeniedError,
    PlatformClient,
    RateLimitError,
    RequestTooLargeError,
    UnprocessableError,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import CALLS, IDS, OPERATIONS

EXCEPTIONS: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: RequestTooLargeError,
    422: UnprocessableError,
    429: RateLimitError,
}
#: A listing retries this one with a lower X-Max-Return, which test_max_return.py covers.
_ANSWERED_DIFFERENTLY = {("list_itwins", "maxReturn")}
CASES = [
    pytest.param(name, status, body, id=f"{name}-{status}-{example}")
    for name, operation in OPERATIONS.items()
    for status, example, body in operation.errors
    if (name, example) not in _ANSWERED_DIFFERENTLY
]


@pytest.mark.parametrize(("name", "status", "body"), CASES)
async def test_a_documented_error_is_typed_and_loses_nothing(
    name: str, status: int, body: dict[str, Any], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The class follows the status; code, message, target, details, headers and the correlation id are kept."""
    headers = {"X-Correlation-Id": "of-the-service"} | ({"retry-after": "7"} if status == 429 else {})
    httpx_mock.add_response(status_code=status, json=body, headers=headers)
    with pytest.raises(APIStatusError) as caught:
        await CALLS[name](platform, IDS)
    error, said = caught.value, body["error"]
    assert type(error) is EXCEPTIONS[status]
    assert error.status == status
    assert error.code == said["code"] == ErrorCode(said["code"])
    assert said["code"] in list(ErrorCode)
    assert (error.message, error.target) == (said["message"], said["target"])
    assert error.details == tuple(ErrorDetail(**detail) for detail in said.get("details", []))
    assert error.headers["x-correlation-id"] == error.correlation_id == "of-the-service"
    assert error.attempts == len(httpx_mock.get_requests()) == 1
    assert error.retryable is (status == 429)
    assert error.retry_after == (7.0 if status == 429 else None)


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_documented_error_names_what_support_asks_for(
    name: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The text of an error holds the status, the code, each detail and the correlation id, and never the token."""
    status, _, body = OPERATIONS[name].errors[0]
    httpx_mock.add_response(status_code=status, json=body, headers={"x-correlation-id": "of-the-service"})
    with pytest.raises(APIStatusError) as caught:
        await CALLS[name](platform, IDS)
    text = str(caught.value)
    assert f"{status} {body['error']['code']}" in text
    assert "of-the-service" in text
    assert "planted-token" not in text + repr(caught.value)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 429, 500, 503])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_an_undocumented_body_still_gives_the_class_of_its_status(
    name: str, status: int, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Whatever the body of an error response is, each operation raises by its status and keeps the bytes."""
    httpx_mock.add_response(status_code=status, content=b"<html>no</html>", headers={"retry-after": "60"})
    with pytest.raises(APIStatusError) as caught:
        await CALLS[name](platform, IDS)
    assert (caught.value.status, caught.value.code, caught.value.body) == (status, None, b"<html>no</html>")
    assert isinstance(caught.value, EXCEPTIONS.get(status, APIStatusError))
