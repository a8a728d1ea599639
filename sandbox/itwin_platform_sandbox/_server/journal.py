"""The journal: a record of every request, without secrets, limited in number and memory."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from .._service.json_values import JSON, NotJSONError
from .._service.messages import APIRequest, Body

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
    empty or implausible values, which `strict` rejects. `faults` are the names of the faults that had an effect,
    `rate_limit` is the limit that rejected the request, and `error_...` are code, message and details of the response.
    `response_body` is the JSON of the response before a fault of its delivery, without secrets, with `bodies=True`.
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
    faults: tuple[str, ...] = ()
    rate_limit: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    error_details: tuple[str, ...] = ()
    response_body: JSON = None
    response_bytes: int = 0


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


def without_secrets(body: Body) -> JSON:
    """Return the body as JSON with webhook secrets and authentication values hidden; of other bodies only the size."""
    if not body.content:
        return None
    try:
        return redacted(body.json())
    except NotJSONError:
        return f"<{len(body.content)} bytes that are not JSON>"


def redacted(value: JSON) -> JSON:
    """Return JSON with webhook secrets, authentication values and secret parameters of links hidden."""
    if isinstance(value, list):
        return [redacted(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown: dict[str, JSON] = {}
    for name, item in value.items():
        if name == "authentication" and isinstance(item, dict):
            shown[name] = {key: text if key == "type" else HIDDEN for key, text in item.items()}
        elif name in ("secret", "authentication") and item is not None:
            shown[name] = HIDDEN
        elif name == "href" and isinstance(item, str):
            shown[name] = _without_secrets_in_link(item)
        else:
            shown[name] = redacted(item)
    return shown


def _without_secrets_in_link(link: str) -> str:
    # The links of a page have the query of its request.
    address, _, text = link.partition("?")
    query = dict(parse_qsl(text, keep_blank_values=True))
    shown = without_secret_parameters(query)
    return link if shown is query else f"{address}?{urlencode(shown, safe='$<>')}"


# A sandbox may run for weeks.
MOST_RECORDS = 100_000
MOST_BYTES = 8 * 2**20
# The memory of a record without its body, and the factor by which parsed JSON is larger than its text; both measured.
RECORD_BYTES = 500
PARSED_FACTOR = 6
MOST_SHARED = 64
UNCOUNTED_CHARACTERS = 1000


class Recorder:
    """The journal, and the number of requests in flight."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        bodies: bool = False,
        most: int = MOST_RECORDS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._bodies = bodies
        self.records: list[RecordedRequest] = []
        self._clock = clock
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._in_flight = 0
        self._shared_values: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def begin(self, request: APIRequest, operation: str | None, route: str | None) -> "Recording":
        """Start the record of a request whose body may not be read yet."""
        self._in_flight += 1
        started = self._clock()
        record = RecordedRequest(
            operation=operation,
            method=request.method,
            route=route,
            path=request.path,
            query=self._shared(without_secret_parameters(request.query)),
            headers=self._shared(without_secret_headers(request.headers)),
            body=None,
            status=None,
            started=started,
            ended=started,
            in_flight=self._in_flight,
        )
        return Recording(self, record, bodies=self._bodies)

    def end(self, record: RecordedRequest) -> None:
        """Add the record of a request that has ended."""
        self._in_flight -= 1
        self.records.append(replace(record, ended=self._clock()))
        self._bytes += _size(record)
        if len(self.records) > self._most:
            del self.records[: self._most // 2]
        if self._bytes > self._most_bytes:
            self._forget()

    def _shared(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return one mapping for all equal ones, because a client sends many equal headers and queries."""
        if len(self._shared_values) >= MOST_SHARED:
            self._shared_values.clear()
        return self._shared_values.setdefault(tuple(values.items()), values)

    def _forget(self) -> None:
        """Drop the oldest records until half of the memory is free; a test may have cleared the list."""
        sizes = [_size(record) for record in self.records]
        self._bytes = sum(sizes)
        dropped = 0
        while dropped < len(sizes) - 1 and self._bytes > self._most_bytes // 2:
            self._bytes -= sizes[dropped]
            dropped += 1
        del self.records[:dropped]


def _size(record: RecordedRequest) -> int:
    body = record.response_bytes + (0 if record.body is None else record.body_bytes)
    # Usual headers and queries are short and shared; a client can send others with every request.
    texts = sum(len(text) for values in (record.query, record.headers) for text in (*values, *values.values()))
    return RECORD_BYTES + len(record.path) + max(0, texts - UNCOUNTED_CHARACTERS) + body * PARSED_FACTOR


class Recording:
    """The record of one request, added once: before the last byte of its response, or when there is none."""

    __slots__ = ("_bodies", "_record", "_recorder")

    def __init__(self, recorder: Recorder, record: RecordedRequest, *, bodies: bool) -> None:
        self._recorder = recorder
        self._record: RecordedRequest | None = record
        self._bodies = bodies

    def body(self, body: Body) -> None:
        """Add the body of the request."""
        if self._record is not None:
            self._record = replace(self._record, body=without_secrets(body), body_bytes=len(body.content))

    def explain(
        self, response: JSON, size: int, *, notes: tuple[str, ...], faults: tuple[str, ...], rate_limit: str | None
    ) -> None:
        """Add why the response is as it is; of its JSON only an error, unless bodies are kept."""
        if self._record is None:
            return
        code, message, details = _error_of(response)
        self._record = replace(
            self._record,
            notes=notes,
            faults=faults,
            rate_limit=rate_limit,
            error_code=code,
            error_message=message,
            error_details=details,
            response_body=redacted(response) if self._bodies else None,
            response_bytes=size if self._bodies else 0,
        )

    def end(self, status: int | None = None) -> None:
        """Add the record to the journal with the status of the response; later calls do nothing."""
        if self._record is not None:
            self._recorder.end(replace(self._record, status=status))
            self._record = None


def _error_of(response: JSON) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Return code, message and details of an error, which may have any form."""
    body = response if isinstance(response, dict) else {}
    found = body.get("error", body if "statusCode" in body else None)
    error = found if isinstance(found, dict) else {}
    details = error.get("details")
    shown = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    code, message = error.get("code"), error.get("message")
    return (
        code if isinstance(code, str) else None,
        message if isinstance(message, str) else None,
        tuple(f"{item.get('target') or item.get('code')}: {item.get('message')}" for item in shown),
    )
