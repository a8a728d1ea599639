"""Requests, responses and errors of the service as values, without a web framework.

Source: section 2.11 for the body of an error, section 7 for its codes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from .credentials import Caller
from .json_values import JSON, JSONObject, NotJSONError, read_json


class Body:
    """The body of a request: its bytes, and the JSON in them, which is parsed once for everybody who reads it."""

    __slots__ = ("_error", "_value", "content")

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
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


@dataclass(frozen=True, slots=True, kw_only=True)
class APIRequest:
    """One received request: `path` is percent-encoded, header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Body = field(default_factory=Body, repr=False)
    origin: str = "http://127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """The input of one operation: caller, decoded path parameters, query, headers and body."""

    caller: Caller
    path_parameters: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    body: Body = field(repr=False)
    url: str


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """Status, JSON body and headers of one response.

    `notes` name odd fields of the request, `rate_limit` the limit that rejected it.
    """

    status: int
    body: JSON
    headers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    rate_limit: str | None = field(default=None, compare=False)


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


def rate_limit_exceeded(headers: tuple[tuple[str, str], ...], rate_limit: str | None = None) -> ErrorResponse:
    """Return the error for too many requests. Source: section 7."""
    message = "The client sent more requests than its tier allows."
    return ErrorResponse(429, "RateLimitExceeded", message, headers=headers, rate_limit=rate_limit)


def insufficient_permissions(message: str) -> ErrorResponse:
    """Return the error for a caller without the permission. Source: section 7."""
    return ErrorResponse(403, "InsufficientPermissions", message)


# "UUIDs" of the service need not satisfy RFC 4122 in version and variant, so only their form is looked at.
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
_JSON_MEDIA_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)


def read_object(request: OperationRequest, invalid: InvalidRequest) -> JSONObject:
    """Return the body as a JSON object; else the operation's own error with detail `InvalidRequestBody`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if not _JSON_MEDIA_TYPE.fullmatch(media_type):
        _reject_body(invalid, f"Content-Type must be application/json, not {media_type[:100]!r}.")
    try:
        body = request.body.json()
    except NotJSONError as error:
        _reject_body(invalid, f"The body is not JSON: {error}.")
    if not isinstance(body, dict):
        _reject_body(invalid, "The body must be a JSON object.")
    return body


def _reject_body(invalid: InvalidRequest, message: str) -> NoReturn:
    invalid.reject(Detail("InvalidRequestBody", None, message))


def is_origin(text: str) -> bool:
    """Return whether the text is an origin such as http://localhost:3000."""
    return _ORIGIN.fullmatch(text) is not None


def is_uuid(value: JSON) -> bool:
    """Return whether the value is a string in the form of a UUID."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def is_number(value: JSON) -> bool:
    """Return whether the value is a JSON number: in Python true and false are integers, in JSON they are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
