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

from tests.operations.conftest import OPERATIONS, called

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
        await called(platform, name)
    error, said = caught.value, body["error"]
    assert type(error) is EXCEPTIONS[status]
    assert error.status == status
    assert error.code == said["code"] == ErrorCode(said["code"])
    assert said["code"] in list(ErrorCode)
    assert (error.message, error.target) == (said["message"], said["target"])
    assert error.details == tuple(ErrorDetail(**detail) for detail in said.get("details", []))
    assert error.headers["x-correlation-id"] == error.correlation_id == "of-the-service"
    assert error.attempts == len(httpx_mock.get_requests()) == 1
    text = str(error)
    assert f"{status} {said['code']}" in text
    assert "of-the-service" in text
    assert "planted-token" not in text + repr(error)
    assert error.retryable is (status == 429)
    assert error.retry_after == (7.0 if status == 429 else None)
