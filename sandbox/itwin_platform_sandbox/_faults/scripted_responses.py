"""Serializes responses, and makes the scripted responses that replace responses of the service."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

from .._service.json_values import JSON, write_json
from .._service.messages import ErrorResponse, ServiceResponse, WireResponse, rate_limit_exceeded
from .._service.rate_limit import http_date, retry_after_headers
from .catalogue import FaultName
from .plan import Fault

JSON_HEADERS = (("content-type", "application/json"),)
DEFAULT_DELAY = 1.0


def to_wire(response: ServiceResponse, now: datetime) -> WireResponse:
    """Return the response in bytes, with a Date."""
    if not response.has_body:
        return dated(WireResponse(response.status, response.headers, b""), now)
    return dated(WireResponse(response.status, (*JSON_HEADERS, *response.headers), write_json(response.body)), now)


def dated(response: WireResponse, now: datetime) -> WireResponse:
    """Return the response with the header Date, to which a date in retry-after is relative."""
    return WireResponse(response.status, (("date", http_date(now)), *response.headers), response.body)


def any_response(status: int, body: object, headers: Mapping[str, str], *, as_json: bool = False) -> WireResponse:
    """Return a response with a JSON body; None means no body, and without `as_json` a string is sent unchanged."""
    content, media_type = b"", ""
    if isinstance(body, str) and not as_json:
        content, media_type = body.encode("utf-8", "surrogatepass"), "text/plain; charset=utf-8"
    elif body is not None:
        content, media_type = write_json(cast("JSON", body)), "application/json"
    names = {name.lower() for name in headers}
    default = (("content-type", media_type),) if media_type and "content-type" not in names else ()
    return WireResponse(status, (*default, *headers.items()), content)


def _error(error: ErrorResponse) -> WireResponse:
    response = error.response()
    return WireResponse(response.status, (*JSON_HEADERS, *response.headers), write_json(response.body))


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    return retry_after_headers(fault.retry_after, DEFAULT_DELAY if fault.seconds is None else fault.seconds, now)


def _rate_limited(fault: Fault, now: datetime) -> WireResponse:
    return _error(rate_limit_exceeded(_retry_after(fault, now)))


def _unavailable(fault: Fault, now: datetime) -> WireResponse:
    message = "The service is not available for the moment."
    return _error(ErrorResponse(503, "ServiceUnavailable", message, headers=_retry_after(fault, now)))


def _respond(fault: Fault, _: datetime) -> WireResponse:
    return any_response(fault.status, fault.body, fault.headers)


# The responses that replace the operation, by the name of the fault.
SCRIPTED_RESPONSES: dict[FaultName, Callable[[Fault, datetime], WireResponse]] = {
    "rate_limited": _rate_limited,
    "unavailable": _unavailable,
    "respond": _respond,
}


def too_large(now: datetime, note: str) -> tuple[WireResponse, ServiceResponse]:
    """Return the error for a body that is larger than any operation accepts, in bytes and as a value."""
    response = replace(
        ErrorResponse(413, "RequestTooLarge", "The request body is too large.").response(), notes=(note,)
    )
    return to_wire(response, now), response
