"""How the service says no: the error body of section 2.11 with the codes of section 7."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from ._exchange import Answer
from ._json import JSON


@dataclass(frozen=True, slots=True)
class Detail:
    """One entry of `error.details`."""

    code: str
    target: str | None
    message: str


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error of the sandbox
    """The service refuses the request; carries the answer it gives instead. Source: section 7."""

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

    def answer(self) -> Answer:
        """The error body as it goes over the wire."""
        details: list[JSON] = [
            {"code": detail.code, "message": detail.message, "target": detail.target} for detail in self.details
        ]
        error: JSON = {"code": self.code, "message": self.message, "target": None, "details": details}
        return Answer(self.status, {"error": error}, self.headers)


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """The refusal with which one operation answers a request that breaks its rules."""

    status: int
    code: str
    message: str

    def refuse(self, *details: Detail) -> NoReturn:
        """Raise the refusal with everything that was found wrong."""
        raise Refusal(self.status, self.code, self.message, details)

    def refuse_any(self, details: Sequence[Detail]) -> None:
        """Raise the refusal when something was found wrong."""
        if details:
            self.refuse(*details)


def operation_not_found(message: str, status: int = 404, headers: tuple[tuple[str, str], ...] = ()) -> Refusal:
    """No such operation. Source: section 7, `ResourceNotFound` with detail `OperationNotFound`."""
    detail = Detail("OperationNotFound", None, message)
    return Refusal(status, "ResourceNotFound", "Requested resource is not available.", [detail], headers)


def rate_limit_exceeded(headers: tuple[tuple[str, str], ...]) -> Refusal:
    """Too many requests. Source: section 7."""
    message = "The client sent more requests than its tier allows."
    return Refusal(429, "RateLimitExceeded", message, headers=headers)


def insufficient_permissions(message: str) -> Refusal:
    """The caller is known but not entitled. Source: section 7."""
    return Refusal(403, "InsufficientPermissions", message)
