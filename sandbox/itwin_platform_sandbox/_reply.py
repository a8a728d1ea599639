"""An answer as bytes, and the replies that do not come from the service at all."""

import gzip
from collections.abc import Callable
from datetime import datetime

from ._exchange import Answer, Reply
from ._faults import Fault, FaultName
from ._json import JSON, write_json
from ._refusal import Detail, InvalidRequest, Refusal, rate_limit_exceeded
from ._retry_after import http_date, retry_after_headers

JSON_HEADERS = (("content-type", "application/json"),)
HTML_502 = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"
GATEWAY_401: JSON = {"statusCode": 401, "message": "Invalid JWT."}
DEFAULT_WAIT = 1.0


def reply_of(answer: Answer, now: datetime) -> Reply:
    """The answer in bytes, dated, gzipped when its headers say so."""
    body = write_json(answer.body)
    if ("content-encoding", "gzip") in answer.headers:
        body = gzip.compress(body, compresslevel=1, mtime=0)
    return dated(Reply(answer.status, (*JSON_HEADERS, *answer.headers), body), now)


def dated(reply: Reply, now: datetime) -> Reply:
    """The reply with the header Date, which a retry-after is understood against."""
    return Reply(reply.status, (("date", http_date(now)), *reply.headers), reply.body)


def _json(status: int, body: JSON, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    return Reply(status, (*JSON_HEADERS, *headers), write_json(body))


def _refused(refusal: Refusal) -> Reply:
    answer = refusal.answer()
    return _json(answer.status, answer.body, answer.headers)


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    return retry_after_headers(fault.retry_after, DEFAULT_WAIT if fault.seconds is None else fault.seconds, now)


def _rate_limited(fault: Fault, now: datetime) -> Reply:
    return _refused(rate_limit_exceeded(_retry_after(fault, now)))


def _unavailable(fault: Fault, now: datetime) -> Reply:
    message = "The service is not available for the moment."
    return _refused(Refusal(503, "ServiceUnavailable", message, headers=_retry_after(fault, now)))


def _html_502(_: Fault, __: datetime) -> Reply:
    return Reply(502, (("content-type", "text/html"),), HTML_502)


def _text_500(_: Fault, __: datetime) -> Reply:
    return Reply(500, (("content-type", "text/plain"),), b"Internal Server Error")


def _error_null(_: Fault, __: datetime) -> Reply:
    return _json(500, {"error": None})


def _gateway_401(_: Fault, __: datetime) -> Reply:
    return _json(401, GATEWAY_401)


# What is answered instead of carrying the operation out, by the name of the fault.
REPLIES_INSTEAD: dict[FaultName, Callable[[Fault, datetime], Reply]] = {
    "rate_limited": _rate_limited,
    "unavailable": _unavailable,
    "html_502": _html_502,
    "text_500": _text_500,
    "error_null": _error_null,
    "gateway_401": _gateway_401,
}


def max_return_refused() -> Answer:
    """The refusal of an X-Max-Return of 10000, which one message of section 7 allows and section 8 does not."""
    detail = Detail("InvalidHeaderValue", "X-Max-Return", "Header X-Max-Return must be below 10000.")
    invalid = InvalidRequest(422, "InvalidiTwinsRequest", "The request to list iTwins is not valid.")
    return Refusal(invalid.status, invalid.code, invalid.message, [detail]).answer()
