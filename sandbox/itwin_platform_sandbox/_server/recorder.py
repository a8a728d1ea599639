"""The journal: keeps the record of every request, within bounds of number and memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from .._service.messages import APIRequest
from .._service.operation_table import Operation
from .records import RecordedRequest, without_secret_headers, without_secret_parameters, without_secrets

# A sandbox that runs for weeks must not fill the memory.
MOST_RECORDS = 100_000
MOST_BYTES = 16 * 2**20
# What a record takes without its body, and how much more memory JSON takes once it is parsed; both measured, roughly.
RECORD_BYTES = 700
PARSED_FACTOR = 6
MOST_SHARED = 64


class Recorder:
    """The journal, and how many requests are being handled."""

    def __init__(self, clock: Callable[[], float], *, most: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.records: list[RecordedRequest] = []
        self._clock = clock
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._in_flight = 0
        self._shared_values: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def begin(self, request: APIRequest, operation: Operation | None) -> "Recording":
        """Begin the record of a request whose body may still be on its way."""
        self._in_flight += 1
        started = self._clock()
        record = RecordedRequest(
            operation=operation.name if operation else None,
            method=request.method,
            route=operation.route if operation else None,
            path=request.path,
            query=self._shared(without_secret_parameters(request.query)),
            headers=self._shared(without_secret_headers(request.headers)),
            body=None,
            status=None,
            started=started,
            ended=started,
            in_flight=self._in_flight,
        )
        return Recording(self, record)

    def end(self, record: RecordedRequest) -> None:
        """Keep the record of a request that is no longer being handled."""
        self._in_flight -= 1
        self.records.append(replace(record, ended=self._clock()))
        self._bytes += _size(record)
        if len(self.records) > self._most:
            del self.records[: self._most // 2]
        if self._bytes > self._most_bytes:
            self._forget()

    def _shared(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return headers or a query that equal ones share, because a client sends many equal ones."""
        if len(self._shared_values) >= MOST_SHARED:
            self._shared_values.clear()
        return self._shared_values.setdefault(tuple(values.items()), values)

    def _forget(self) -> None:
        """Drop the oldest records until half of the memory is free; the caller may have cleared the list as well."""
        sizes = [_size(record) for record in self.records]
        self._bytes = sum(sizes)
        dropped = 0
        while dropped < len(sizes) - 1 and self._bytes > self._most_bytes // 2:
            self._bytes -= sizes[dropped]
            dropped += 1
        del self.records[:dropped]


def _size(record: RecordedRequest) -> int:
    body = 0 if record.body is None else record.body_bytes
    return RECORD_BYTES + len(record.path) + body * PARSED_FACTOR


class Recording:
    """The record of one request, kept once: just before the last byte of its response, or when there is none."""

    __slots__ = ("_record", "_recorder")

    def __init__(self, recorder: Recorder, record: RecordedRequest) -> None:
        self._recorder = recorder
        self._record: RecordedRequest | None = record

    def body(self, body: bytes) -> None:
        """Record the body once it is there."""
        if self._record is not None:
            self._record = replace(self._record, body=without_secrets(body), body_bytes=len(body))

    def notes(self, notes: tuple[str, ...]) -> None:
        """Record what was odd about the request."""
        if self._record is not None and notes:
            self._record = replace(self._record, notes=notes)

    def end(self, status: int | None = None) -> None:
        """Keep the record with the status of the response; does nothing once it is kept."""
        if self._record is not None:
            self._recorder.end(replace(self._record, status=status))
            self._record = None
