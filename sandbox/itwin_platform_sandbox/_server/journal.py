"""The journal: a record of every request, without secrets, limited in number and memory."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from .._faults.faulty_service import NO_DECISION, Decision
from .._service.document import DocumentedOperation
from .._service.json_values import JSON, NotJSONError
from .._service.messages import APIRequest, Body

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
HIDDEN = "<hidden>"
# Names of query parameters that carry secrets elsewhere: API keys, signed links, authorization codes.
_SECRET_NAME = re.compile(
    r"token|secret|passw|credential|authorization|signature|api[-_]?key|^(sig|key|code|auth|jwt|sas)$", re.IGNORECASE
)
SAFE_PARAMETERS = frozenset({"$continuationToken"})


class RecordedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request that the sandbox received.

    `operation` and `route` are None when no operation was found; `path` is percent-encoded as sent; header names are in
    lower case. `status` is None when no response was sent. `started` and `ended` are seconds of the sandbox's clock;
    `in_flight` counts the requests being handled when this one began, itself included. `body` is JSON without secrets,
    or a string with the reason for its absence; `body_bytes` is its size. `notes` name the query parameters
    and fields that the specification does not have, which `strict` rejects. `faults` are the names of the
    faults that had an effect, `rate_limit` is the limit that rejected the request, and `error_...` are code, message
    and details of the response.
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

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        error = f"{self.error_code}: {self.error_message}" if self.error_code or self.error_message else None
        faults = (f"fault {name}" for name in self.faults)
        reasons = [*faults, *filter(None, (self.rate_limit, error)), *self.error_details, *self.notes]
        line = f"{self.status or 'no response'} {self.method} {self.path}{'?' if query else ''}{query}"
        return "; ".join([line, *reasons])


def without_secret_parameters(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return the query with the values of secret parameters hidden."""
    if not any(_is_secret_name(name) for name in query):
        return query
    return {name: HIDDEN if _is_secret_name(name) else value for name, value in query.items()}


def _is_secret_name(name: str) -> bool:
    return name not in SAFE_PARAMETERS and _SECRET_NAME.search(name) is not None


def without_secret_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers without the headers that carry secrets."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}


def without_secrets(body: Body) -> JSON:
    """Return the body as JSON with webhook secrets and authentication values hidden, or the size of another body."""
    if not body.content:
        return None
    try:
        return redacted(body.json())
    except NotJSONError:
        return f"<{len(body.content)} bytes that are not JSON>"


def redacted(value: JSON) -> JSON:
    """Return JSON with webhook secrets and authentication values hidden."""
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
        else:
            shown[name] = redacted(item)
    return shown


# The maximum number of records in the journal, and their maximum size in bytes: a sandbox may run for weeks.
MOST_RECORDS = 20_000
MOST_BYTES = 16 * 2**20


@dataclass(slots=True)
class Recorder:
    """The journal, and the requests in flight."""

    clock: Callable[[], float]
    most: int = field(default=MOST_RECORDS, kw_only=True)
    most_bytes: int = field(default=MOST_BYTES, kw_only=True)
    records: list[RecordedRequest] = field(default_factory=list, init=False)
    _bytes: int = field(default=0, init=False)
    _in_flight: "dict[Recording, None]" = field(default_factory=dict, init=False)

    def begin(
        self, request: APIRequest, operation: DocumentedOperation | None, task: asyncio.Task[None] | None = None
    ) -> "Recording":
        """Start the record of a request before its body is read; `task` handles the request."""
        started, number = self.clock(), len(self._in_flight) + 1
        recording = Recording(
            recorder=self, request=request, operation=operation, task=task, started=started, number=number
        )
        self._in_flight[recording] = None
        return recording

    def reset(self) -> None:
        """Empty the journal, and end every request in flight: it has no record and no further effect."""
        ended = list(self._in_flight)
        self._in_flight.clear()
        self.records.clear()
        for recording in ended:
            recording.cut_off()

    def end_held(self) -> None:
        """End the requests that a fault holds; their records have no status."""
        for recording in list(self._in_flight):
            if recording.is_held:
                recording.cut_off()

    def end(self, recording: "Recording", status: int | None) -> None:
        """Add the record of a request that has ended, unless it has one or began before a reset."""
        if recording not in self._in_flight:
            return
        del self._in_flight[recording]
        record = self._record(recording, status)
        self.records.append(record)
        self._bytes += _size(record)
        if self._bytes > self.most_bytes:
            self._bytes = sum(map(_size, self.records))  # a test may have cleared the list
        if self._bytes > self.most_bytes or len(self.records) > self.most:
            del self.records[: len(self.records) // 2]
            self._bytes = sum(map(_size, self.records))

    def _record(self, recording: "Recording", status: int | None) -> RecordedRequest:
        request, decision, operation = recording.request, recording.decision, recording.operation
        response = decision.service_response
        code, message, details = _error_of(response.body)
        return RecordedRequest(
            operation=operation.name if operation else None,
            method=request.method,
            route=operation.route if operation else None,
            path=request.path,
            query=without_secret_parameters(request.query),
            headers=without_secret_headers(request.headers),
            body=without_secrets(request.body),
            status=status,
            started=recording.started,
            ended=self.clock(),
            in_flight=recording.number,
            body_bytes=len(request.body.content),
            notes=response.notes,
            faults=decision.faults,
            rate_limit=response.rate_limit,
            error_code=code,
            error_message=message,
            error_details=details,
        )


def _size(record: RecordedRequest) -> int:
    return record.body_bytes + len(record.path) + len(str(record.query)) + len(str(record.headers))


@dataclass(slots=True, eq=False, kw_only=True)
class Recording:
    """One request in flight: its record is added before the last byte of the response, or when it ends without one."""

    recorder: "Recorder"
    request: APIRequest
    operation: DocumentedOperation | None
    task: asyncio.Task[None] | None
    started: float
    number: int
    decision: Decision = NO_DECISION
    is_held: bool = False
    is_cut_off: bool = False

    def end(self, status: int | None = None) -> None:
        """Add the record to the journal with the status of the response; later calls do nothing."""
        self.recorder.end(self, status)

    def cut_off(self) -> None:
        """Cancel the task of the request, which then closes the connection."""
        if self.task is not None and not self.is_cut_off:
            self.is_cut_off = True
            self.task.cancel()


def _error_of(response: JSON) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Return code, message and details of an error response, which may be malformed."""
    found = response.get("error") if isinstance(response, dict) else None
    error = found if isinstance(found, dict) else {}
    details = error.get("details")
    shown = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    code, message = error.get("code"), error.get("message")
    return (
        code if isinstance(code, str) else None,
        message if isinstance(message, str) else None,
        tuple(f"{item.get('target') or item.get('code')}: {item.get('message')}" for item in shown),
    )
