"""The pending faults, and which of them affect a request."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec

from .._service.json_values import (
    Count,
    FieldError,
    JSONObject,
    NotJSONError,
    Positive,
    Seconds,
    check_choice,
    check_json,
    checked,
)
from .._service.messages import APIRequest, is_origin
from .._service.rate_limit import RetryAfter
from .._service.service import OPERATIONS
from .catalogue import FAULTS, FaultKind, FaultName, Phase, ResponseKind

HeaderName = Annotated[str, msgspec.Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")]
HeaderValue = Annotated[str, msgspec.Meta(pattern=r"^[\t\x20-\x7e\x80-\xff]*\Z")]
FRAMING = frozenset({"content-length", "transfer-encoding"})


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The parts of a request by which a fault matches it.

    `path` is below the base URL and percent-encoded as sent; `*` matches any characters. `query` has parameters.
    `body` has fields of the JSON body; its objects may have other fields too.
    """

    path: str | None = None
    query: dict[str, str] = {}
    body: object = None

    def accepts(self, request: APIRequest, path_prefix: str) -> bool:
        """Return whether the request has all of these parts."""
        if self.path is not None and not fnmatchcase(request.path.removeprefix(path_prefix), self.path):
            return False
        if any(request.query.get(name) != value for name, value in self.query.items()):
            return False
        if self.body is None:
            return True
        try:
            return _contains(request.body.json(), self.body)
        except NotJSONError:
            return False


def _contains(value: object, wanted: object) -> bool:
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(name in value and _contains(value[name], inner) for name, inner in wanted.items())
    return type(value) is type(wanted) and value == wanted


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fault to add; `count` None means forever, `operation` None means every operation.

    `seconds` is a duration or a requested delay, and `retry_after` the form of that delay. `origin` belongs to
    `next_foreign`. `respond` sends `status`, `headers` and `body`: a string unchanged, and other values as JSON.
    """

    name: FaultName
    operation: str | None = None
    count: Positive | None = 1
    skip: Count = 0
    seconds: Seconds | None = None
    retry_after: RetryAfter = "seconds"
    origin: str = "http://foreign.invalid"
    match: Match | None = None
    status: Annotated[int, msgspec.Meta(ge=200, le=599)] = 500
    body: object = None
    headers: dict[HeaderName, HeaderValue] = {}

    def __post_init__(self) -> None:
        if self.operation is not None:
            check_choice("operation", self.operation, (row.name for row in OPERATIONS))
        if not is_origin(self.origin):
            raise FieldError("origin", f"must be an origin such as http://foreign.invalid, not {self.origin[:60]!r}")
        if self.name == "refuse" and self.seconds is None:
            raise FieldError("seconds", "must be set for refuse: the seconds for which connections are refused")
        for field in ("operation", "match"):
            if self.name == "refuse" and getattr(self, field) is not None:
                raise FieldError(field, "must be omitted for refuse, which concerns every request")
        check_headers(self.headers)
        check_json("body", self.body)

    @property
    def kind(self) -> FaultKind:
        """The row of the catalogue."""
        return FAULTS[self.name]


def check_headers(headers: Mapping[str, str]) -> None:
    """Reject headers that the server writes itself."""
    for name in headers:
        if name.lower() in FRAMING:
            raise FieldError("headers", f"must not have {name}, which the sandbox sends itself")


@dataclass(slots=True)
class _Entry:
    fault: Fault
    fired: bool = False


class FaultPlan:
    """The pending faults, in the order in which they were added."""

    __slots__ = ("_entries", "_path_prefix", "fired")

    def __init__(self, path_prefix: str = "") -> None:
        self._path_prefix = path_prefix
        self._entries: list[_Entry] = []
        # The names of the faults that fired, until the caller clears them.
        self.fired: list[FaultName] = []

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        self._entries.append(_Entry(fault))

    def clear(self) -> None:
        """Remove all faults."""
        self._entries.clear()

    def pending(self) -> tuple[Fault, ...]:
        """Return the pending faults, with the remaining counts and skips."""
        return tuple(entry.fault for entry in self._entries)

    def unused(self) -> tuple[Fault, ...]:
        """Return the pending faults that have never fired."""
        return tuple(entry.fault for entry in self._entries if not entry.fired)

    def matching(
        self, phase: Phase, operation: str | None, request: APIRequest, responses: ResponseKind = "any"
    ) -> Iterator[Fault]:
        """Yield the faults of one phase that match a request and the kind of its response, also if they skip it."""
        for entry in list(self._entries):
            fault, kind = entry.fault, entry.fault.kind
            concerned = operation is not None and fault.operation in (None, operation)
            matches = concerned and kind.phase == phase and kind.responses in ("any", responses)
            if matches and (fault.match is None or fault.match.accepts(request, self._path_prefix)):
                yield fault

    def count(self, fault: Fault) -> bool:
        """Count one request on which the fault has an effect; return whether it fires."""
        position = next(index for index, entry in enumerate(self._entries) if entry.fault is fault)
        entry = self._entries[position]
        if fault.skip:
            entry.fault = msgspec.structs.replace(fault, skip=fault.skip - 1)
            return False
        entry.fired = True
        self.fired.append(fault.name)
        if fault.count == 1:
            del self._entries[position]
        elif fault.count is not None:
            entry.fault = msgspec.structs.replace(fault, count=fault.count - 1)
        return True

    def next_fault(
        self,
        phase: Phase,
        operation: str | None,
        request: APIRequest,
        responses: ResponseKind = "any",
        applies: Callable[[Fault], bool] = lambda _: True,
    ) -> Fault | None:
        """Count a request, and return the first matching fault of the phase that fires; None if no fault fires."""
        for fault in self.matching(phase, operation, request, responses):
            if applies(fault) and self.count(fault):
                return fault
        return None


def fault_of(values: Mapping[str, object]) -> Fault:
    """Read a fault from arguments or a control request; `FieldError` names a wrong field."""
    if "name" in values:
        check_choice("name", values["name"], FAULTS)
    return checked(Fault, values)


def fault_values(fault: Fault) -> JSONObject:
    """Return the fields of a fault as JSON."""
    values: JSONObject = msgspec.to_builtins(fault)
    return values
