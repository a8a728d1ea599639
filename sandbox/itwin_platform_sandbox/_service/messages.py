"""Requests, responses and errors of the service as values.

Source: section 2.11 for the body of an error, section 7 for its codes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .json_values import JSON, NotJSONError, read_json


class Body:
    """The body of a request as bytes and as JSON, parsed once."""

    __slots__ = ("_error", "_value", "content")

    def __init__(self, content: bytes = b"") -> None:
        self.content: bytes = content
        self._value: JSON = None
        self._error: NotJSONError | None = None
        if content:
            try:
                self._value = read_json(content)
            except NotJSONError as error:
                self._error = error

    def json(self) -> JSON:
        """Return the JSON value; `NotJSONError` if there is none."""
        if self._error is not None or not self.content:
            raise self._error or NotJSONError("it is empty")
        return self._value


@dataclass(slots=True, kw_only=True)
class APIRequest:
    """One request: `path` is percent-encoded, header names are in lower case, and `body` is set when it was read."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Body = field(default_factory=Body, repr=False)
    origin: str = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """Status, JSON body and headers of one response.

    `notes` name unknown parameters and fields of the request. `rate_limit` is the limit that rejected it.
    """

    status: int
    body: JSON
    headers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    rate_limit: str | None = field(default=None, compare=False)
    has_body: bool = True


@dataclass(frozen=True, slots=True)
class WireResponse:
    """One response as bytes."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)


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
        rate_limit: str | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.headers = headers
        self.rate_limit = rate_limit

    def response(self) -> ServiceResponse:
        """Return the error as a response."""
        details: list[JSON] = [
            {"code": detail.code, "message": detail.message, "target": detail.target} for detail in self.details
        ]
        error: JSON = {"code": self.code, "message": self.message, "target": None, "details": details}
        return ServiceResponse(self.status, {"error": error}, self.headers, rate_limit=self.rate_limit)


def operation_not_found(message: str) -> ErrorResponse:
    """Return the error for an unknown operation. Source: section 7, `OperationNotFound`."""
    detail = Detail("OperationNotFound", None, message)
    return ErrorResponse(404, "ResourceNotFound", "Requested resource is not available.", [detail])


def rate_limit_exceeded(headers: tuple[tuple[str, str], ...], rate_limit: str | None = None) -> ErrorResponse:
    """Return the error for too many requests. Source: section 7."""
    message = "The client sent more requests than its tier allows."
    return ErrorResponse(429, "RateLimitExceeded", message, headers=headers, rate_limit=rate_limit)


def insufficient_permissions(message: str) -> ErrorResponse:
    """Return the error for a caller without the permission. Source: section 7."""
    return ErrorResponse(403, "InsufficientPermissions", message)


# Ids of the service need no version and variant of RFC 4122, so only their form is checked.
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)


def is_origin(text: str) -> bool:
    """Return whether the text is an origin such as http://localhost:3000."""
    return _ORIGIN.fullmatch(text) is not None


def is_uuid(value: JSON) -> bool:
    """Return whether the value is a string in the form of a UUID."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None
