"""The journal: a record of every request, limited in number and memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from .._service.messages import APIRequest
from .._service.operation_table import Operation
from .records import RecordedRequest, without_secret_headers, without_secret_parameters, without_secrets

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

    def __init__(self, clock: Callable[[], float], *, most: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self.records: list[RecordedRequest] = []
        self._clock = clock
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._in_flight = 0
        self._shared_values: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def begin(self, request: APIRequest, operation: Operation | None) -> "Recording":
        """Start the record of a request whose body may not be read yet."""
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
    body = 0 if record.body is None else record.body_bytes
    # Usual headers and queries are short and shared; a client can send others with every request.
    texts = sum(len(text) for values in (record.query, record.headers) for text in (*values, *values.values()))
    return RECORD_BYTES + len(record.path) + max(0, texts - UNCOUNTED_CHARACTERS) + body * PARSED_FACTOR


class Recording:
    """The record of one request, added once: before the last byte of its response, or when there is none."""

    __slots__ = ("_record", "_recorder")

    def __init__(self, recorder: Recorder, record: RecordedRequest) -> None:
        self._recorder = recorder
        self._record: RecordedRequest | None = record

    def body(self, body: bytes) -> None:
        """Add the body."""
        if self._record is not None:
            self._record = replace(self._record, body=without_secrets(body), body_bytes=len(body))

    def notes(self, notes: tuple[str, ...]) -> None:
        """Add notes about the request."""
        if self._record is not None and notes:
            self._record = replace(self._record, notes=notes)

    def end(self, status: int | None = None) -> None:
        """Add the record to the journal with the status of the response; later calls do nothing."""
        if self._record is not None:
            self._recorder.end(replace(self._record, status=status))
            self._record = None
