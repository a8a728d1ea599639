"""Serializes responses, and makes the scripted responses that replace those of the service."""

import gzip
from collections.abc import Callable
from datetime import datetime

from .._service.json_values import JSON, write_json
from .._service.messages import Detail, ErrorResponse, ServiceResponse, WireResponse, rate_limit_exceeded
from .._service.rate_limit import http_date, retry_after_headers
from .catalogue import FaultName
from .plan import Fault


def gateway_401_body() -> JSON:
    """Return the body with which the gateway rejects a token."""
    return {"statusCode": 401, "message": "Invalid JWT."}


JSON_HEADERS = (("content-type", "application/json"),)
HTML_502 = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"
DEFAULT_DELAY = 1.0


def to_wire(response: ServiceResponse, now: datetime) -> WireResponse:
    """Return the response in bytes, with a Date, compressed if its headers name gzip."""
    body = write_json(response.body)
    if ("content-encoding", "gzip") in response.headers:
        body = gzip.compress(body, compresslevel=1, mtime=0)
    return dated(WireResponse(response.status, (*JSON_HEADERS, *response.headers), body), now)


def dated(response: WireResponse, now: datetime) -> WireResponse:
    """Return the response with the header Date, against which a client measures retry-after."""
    return WireResponse(response.status, (("date", http_date(now)), *response.headers), response.body)


def _json(status: int, body: JSON, headers: tuple[tuple[str, str], ...] = ()) -> WireResponse:
    return WireResponse(status, (*JSON_HEADERS, *headers), write_json(body))


def _error(error: ErrorResponse) -> WireResponse:
    response = error.response()
    return _json(response.status, response.body, response.headers)


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    return retry_after_headers(fault.retry_after, DEFAULT_DELAY if fault.seconds is None else fault.seconds, now)


def _rate_limited(fault: Fault, now: datetime) -> WireResponse:
    return _error(rate_limit_exceeded(_retry_after(fault, now)))


def _unavailable(fault: Fault, now: datetime) -> WireResponse:
    message = "The service is not available for the moment."
    return _error(ErrorResponse(503, "ServiceUnavailable", message, headers=_retry_after(fault, now)))


def _html_502(_: Fault, __: datetime) -> WireResponse:
    return WireResponse(502, (("content-type", "text/html"),), HTML_502)


def _text_500(_: Fault, __: datetime) -> WireResponse:
    return WireResponse(500, (("content-type", "text/plain"),), b"Internal Server Error")


def _error_null(_: Fault, __: datetime) -> WireResponse:
    return _json(500, {"error": None})


def _gateway_401(_: Fault, __: datetime) -> WireResponse:
    return _json(401, gateway_401_body())


# The responses that replace the operation, by the name of the fault.
SCRIPTED_RESPONSES: dict[FaultName, Callable[[Fault, datetime], WireResponse]] = {
    "rate_limited": _rate_limited,
    "unavailable": _unavailable,
    "html_502": _html_502,
    "text_500": _text_500,
    "error_null": _error_null,
    "gateway_401": _gateway_401,
}


def too_large(now: datetime) -> WireResponse:
    """Return the error for a body that is larger than any operation accepts."""
    return dated(_error(ErrorResponse(413, "RequestTooLarge", "The request body is too large.")), now)


def max_return_rejected() -> ServiceResponse:
    """Return the error for an X-Max-Return of 10000, which one message of section 7 allows and section 8 does not."""
    detail = Detail("InvalidHeaderValue", "X-Max-Return", "Header X-Max-Return must be below 10000.")
    message = "The request to list iTwins is not valid."
    return ErrorResponse(422, "InvalidiTwinsRequest", message, [detail]).response()
