"""What is remembered of each request, for assertions and for the page: never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass

from .._service.json_values import JSON, NotJSONError, read_json

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
HIDDEN = "<hidden>"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request that the sandbox has been sent.

    `operation` and `route` are None when no operation was found; `path` is percent-encoded as sent; header names are in
    lower case. `status` is None when no response was sent. `started` and `ended` are seconds of the sandbox's clock;
    `in_flight` counts the requests being handled when this one began, itself included.
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


def without_secret_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may be shown."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}


def without_secrets(body: bytes) -> JSON:
    """The body as JSON with webhook secrets and authentication values hidden; only the size of anything else."""
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
            redacted[name] = {key: part if key == "type" else HIDDEN for key, part in item.items()}
        elif name in ("secret", "authentication") and item is not None:
            redacted[name] = HIDDEN
        else:
            redacted[name] = _redacted(item)
    return redacted
