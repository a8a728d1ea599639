"""Keeps the record of every request while it is being handled."""

from collections.abc import Callable
from dataclasses import replace

from .._service.messages import APIRequest
from .._service.operation_table import Operation
from .records import RecordedRequest, without_secret_headers, without_secrets

# A sandbox that runs for weeks must not fill the memory.
MOST_RECORDS = 100_000


class Recorder:
    """The records so far, and how many requests are being handled."""

    def __init__(self, clock: Callable[[], float], *, most: int = MOST_RECORDS) -> None:
        self.records: list[RecordedRequest] = []
        self._clock = clock
        self._most = most
        self._in_flight = 0

    def begin(self, request: APIRequest, operation: Operation | None) -> "Recording":
        """Begin the record of a request whose body may still be on its way."""
        self._in_flight += 1
        started = self._clock()
        record = RecordedRequest(
            operation=operation.name if operation else None,
            method=request.method,
            route=operation.route if operation else None,
            path=request.path,
            query=request.query,
            headers=without_secret_headers(request.headers),
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
        if len(self.records) > self._most:
            del self.records[: self._most // 2]


class Recording:
    """The record of one request, kept once: just before the last byte of its response, or when there is none."""

    __slots__ = ("_record", "_recorder")

    def __init__(self, recorder: Recorder, record: RecordedRequest) -> None:
        self._recorder = recorder
        self._record: RecordedRequest | None = record

    def body(self, body: bytes) -> None:
        """Note the body once it is there."""
        if self._record is not None:
            self._record = replace(self._record, body=without_secrets(body))

    def end(self, status: int | None = None) -> None:
        """Keep the record, with the status that was returned; does nothing when it has been kept."""
        if self._record is not None:
            self._recorder.end(replace(self._record, status=status))
            self._record = None
