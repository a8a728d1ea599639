"""Reads a JSON request body, and checks values for several operations."""

import re
from typing import NoReturn

from .errors import Detail, InvalidRequest
from .json_values import JSON, JSONObject, NotJSONError, read_json
from .messages import OperationRequest

# "UUIDs" of the service need not satisfy RFC 4122 in version and variant, so only their form is looked at.
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_JSON_MEDIA_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)


def read_object(request: OperationRequest, invalid: InvalidRequest) -> JSONObject:
    """Return the body as a JSON object; else the operation's own error with detail `InvalidRequestBody`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if not _JSON_MEDIA_TYPE.fullmatch(media_type):
        _reject_body(invalid, f"Content-Type must be application/json, not {media_type[:100]!r}.")
    try:
        body = read_json(request.body)
    except NotJSONError as error:
        _reject_body(invalid, f"The body is not JSON: {error}.")
    if not isinstance(body, dict):
        _reject_body(invalid, "The body must be a JSON object.")
    return body


def _reject_body(invalid: InvalidRequest, message: str) -> NoReturn:
    invalid.reject(Detail("InvalidRequestBody", None, message))


def is_uuid(value: JSON) -> bool:
    """Return whether the value is a string in the form of a UUID."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def is_number(value: JSON) -> bool:
    """Return whether the value is a JSON number: in Python true and false are integers, in JSON they are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
