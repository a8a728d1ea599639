"""The record of one request, without secrets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .._service.json_values import JSON, NotJSONError, read_json

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
HIDDEN = "<hidden>"
# Names of query parameters that carry secrets elsewhere: API keys, signed links, authorization codes.
_SECRET_NAME = re.compile(
    r"token|secret|passw|credential|authorization|signature|api[-_]?key|^(sig|key|code|auth|jwt|sas)$", re.IGNORECASE
)
SAFE_PARAMETERS = frozenset({"$continuationToken"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request that the sandbox received.

    `operation` and `route` are None when no operation was found; `path` is percent-encoded as sent; header names are in
    lower case. `status` is None when no response was sent. `started` and `ended` are seconds of the sandbox's clock;
    `in_flight` counts the requests being handled when this one began, itself included. `body` is JSON without secrets,
    or a string with the reason for its absence; `body_bytes` is its size. `notes` name unknown or read-only fields and
    empty or implausible values, which `strict` rejects.
    """

    operation: str | None
    method: str
    route: str | None
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: JSON
    status: int | None
    started: float
    ended: float
    in_flight: int
    body_bytes: int = 0
    notes: tuple[str, ...] = ()


def without_secret_parameters(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return the query with the values of secret parameters hidden."""
    if not any(_is_secret_name(name) for name in query):
        return query
    return {name: HIDDEN if _is_secret_name(name) else value for name, value in query.items()}


def _is_secret_name(name: str) -> bool:
    return name not in SAFE_PARAMETERS and _SECRET_NAME.search(name) is not None


def without_secret_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers without those that carry secrets."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}


def without_secrets(body: bytes) -> JSON:
    """Return the body as JSON with webhook secrets and authentication values hidden; of other bodies only the size."""
    if not body:
        return None
    try:
        return _redacted(read_json(body))
    except NotJSONError:
        return f"<{len(body)} bytes that are not JSON>"


def _redacted(value: JSON) -> JSON:
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if not isinstance(value, dict):
        return value
    redacted: dict[str, JSON] = {}
    for name, item in value.items():
        if name == "authentication" and isinstance(item, dict):
            redacted[name] = {key: text if key == "type" else HIDDEN for key, text in item.items()}
        elif name in ("secret", "authentication") and item is not None:
            redacted[name] = HIDDEN
        else:
            redacted[name] = _redacted(item)
    return redacted
