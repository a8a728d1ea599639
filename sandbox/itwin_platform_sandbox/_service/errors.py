"""The errors of the service: the body of section 2.11 with the codes of section 7."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from .json_values import JSON
from .messages import ServiceResponse


@dataclass(frozen=True, slots=True)
class Detail:
    """One entry of `error.details`."""

    code: str
    target: str | None
    message: str


class ErrorResponse(Exception):  # noqa: N818 - it is a response of the service, not an error of the sandbox
    """The service rejects the request with this response. Source: section 7."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Sequence[Detail] = (),
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.headers = headers

    def response(self) -> ServiceResponse:
        """Return the error as a response."""
        details: list[JSON] = [
            {"code": detail.code, "message": detail.message, "target": detail.target} for detail in self.details
        ]
        error: JSON = {"code": self.code, "message": self.message, "target": None, "details": details}
        return ServiceResponse(self.status, {"error": error}, self.headers)


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """The error of one operation for invalid requests."""

    status: int
    code: str
    message: str

    def reject(self, *details: Detail) -> NoReturn:
        """Raise the error with these details."""
        raise ErrorResponse(self.status, self.code, self.message, details)

    def reject_any(self, details: Sequence[Detail]) -> None:
        """Raise the error if there are details."""
        if details:
            self.reject(*details)


def operation_not_found(message: str) -> ErrorResponse:
    """Return the error for an unknown operation. Source: section 7, `OperationNotFound`."""
    detail = Detail("OperationNotFound", None, message)
    return ErrorResponse(404, "ResourceNotFound", "Requested resource is not available.", [detail])


def rate_limit_exceeded(headers: tuple[tuple[str, str], ...]) -> ErrorResponse:
    """Return the error for too many requests. Source: section 7."""
    message = "The client sent more requests than its tier allows."
    return ErrorResponse(429, "RateLimitExceeded", message, headers=headers)


def insufficient_permissions(message: str) -> ErrorResponse:
    """Return the error for a caller without the permission. Source: section 7."""
    return ErrorResponse(403, "InsufficientPermissions", message)
