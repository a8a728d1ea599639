"""The pending faults, and which of them affect a request."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import cast

from .._service.json_values import (
    JSON,
    LARGEST_NUMBER,
    FieldError,
    JSONObject,
    check_choice,
    read_fields,
    read_integer,
    read_number,
    read_string,
)
from .._service.messages import is_origin
from .._service.rate_limit import RETRY_AFTER_FORMS, RetryAfter
from .._service.service import OPERATIONS
from .catalogue import FAULTS, FaultKind, FaultName, Phase, ResponseKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault to add; `count` None means forever, `operation` None means every operation."""

    name: FaultName
    operation: str | None = None
    count: int | None = 1
    skip: int = 0
    seconds: float | None = None
    retry_after: RetryAfter = "seconds"
    origin: str = "http://foreign.invalid"

    def __post_init__(self) -> None:
        check_choice("name", self.name, FAULTS)
        if self.operation is not None:
            check_choice("operation", self.operation, (row.name for row in OPERATIONS))
        check_choice("retry_after", self.retry_after, RETRY_AFTER_FORMS)
        if self.count is not None and self.count < 1:
            raise FieldError("count", "must be at least 1; forever is None in Python, null in JSON")
        if self.skip < 0:
            raise FieldError("skip", "must not be negative")
        if not is_origin(self.origin):
            raise FieldError("origin", f"must be an origin such as http://foreign.invalid, not {self.origin[:60]!r}")
        if self.seconds is not None and not 0 <= self.seconds <= LARGEST_NUMBER:
            raise FieldError("seconds", f"must be between 0 and {LARGEST_NUMBER}, not {self.seconds}")
        if self.name == "refuse" and self.seconds is None:
            raise FieldError("seconds", "must be set for refuse: the seconds for which connections are refused")
        if self.name == "refuse" and self.operation is not None:
            raise FieldError("operation", "must be omitted for refuse, which concerns every operation")

    @property
    def kind(self) -> FaultKind:
        """The row of the catalogue."""
        return FAULTS[self.name]


# The faults of `as_seen`, in an order in which no change undoes another. Seeded ids then have observed forms too.
SEEN_FAULTS = (
    Fault(name="seen_enum_values", count=None),
    Fault(name="seen_shapes", count=None),
    Fault(name="seen_times", count=None),
    Fault(name="seen_headers", count=None),
    Fault(name="seen_errors", count=None),
    Fault(name="other_page_size", count=None),
    Fault(name="next_continuation_token", operation="list_scene_objects", count=None),
    Fault(name="next_blank_led", count=None),
    # The platform's own scenes client rejects a null link, so only the listing of iTwins has one.
    Fault(name="next_null", operation="list_itwins", count=None),
)


@dataclass(slots=True)
class _Entry:
    fault: Fault
    standing: bool
    fired: bool = False


def always(_: Fault) -> bool:
    """Apply every fault."""
    return True


class FaultPlan:
    """The pending faults, in the order in which they were added."""

    __slots__ = ("_entries", "fired")

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        # The names of the faults that fired, until the caller clears them.
        self.fired: list[FaultName] = []

    def add(self, fault: Fault, *, standing: bool = False) -> None:
        """Add a fault; a `standing` one is never unused."""
        self._entries.append(_Entry(fault, standing))

    def clear(self) -> None:
        """Remove all faults."""
        self._entries.clear()

    def pending(self) -> tuple[Fault, ...]:
        """Return the pending faults, with the remaining counts and skips."""
        return tuple(entry.fault for entry in self._entries)

    def unused(self) -> tuple[Fault, ...]:
        """Return the pending faults that have never fired."""
        return tuple(entry.fault for entry in self._entries if not (entry.fired or entry.standing))

    def matching(self, phase: Phase, operation: str | None, responses: ResponseKind = "any") -> Iterator[Fault]:
        """Yield the faults of one phase for such a request and response, including those that skip it."""
        for entry in list(self._entries):
            kind = entry.fault.kind
            concerned = entry.fault.operation in (None, operation) and (kind.everywhere or operation is not None)
            if concerned and kind.phase == phase and kind.responses in ("any", responses):
                yield entry.fault

    def count(self, fault: Fault) -> bool:
        """Count one request on which the fault has an effect; return whether it fires."""
        position = next(index for index, entry in enumerate(self._entries) if entry.fault is fault)
        entry = self._entries[position]
        if fault.skip:
            entry.fault = replace(fault, skip=fault.skip - 1)
            return False
        entry.fired = True
        self.fired.append(fault.name)
        if fault.count == 1:
            del self._entries[position]
        elif fault.count is not None:
            entry.fault = replace(fault, count=fault.count - 1)
        return True

    def next_fault(
        self,
        phase: Phase,
        operation: str | None,
        responses: ResponseKind = "any",
        applies: Callable[[Fault], bool] = always,
    ) -> Fault | None:
        """Count such a request; return the fault of the phase that fires, if any."""
        for fault in self.matching(phase, operation, responses):
            if applies(fault) and self.count(fault):
                return fault
        return None


FOREVER = "forever"
FIELDS = tuple(field.name for field in fields(Fault))


def fault_from_values(values: Mapping[str, JSON]) -> Fault:
    """Read a fault from its fields; `FieldError` names the field that is wrong.

    Numbers may be strings, and an empty string is an omitted field. `count` is a number, or null or `forever`.
    """
    read_fields(dict(values), FIELDS)
    sent = {name: value for name, value in values.items() if value not in ("", None)}
    forever = values.get("count", 1) in (None, FOREVER)
    return Fault(
        name=cast("FaultName", read_string(sent, "name")),  # Fault itself rejects an unknown name
        operation=read_string(sent, "operation") if "operation" in sent else None,
        count=None if forever else read_integer(sent, "count", 1, least=1),
        skip=read_integer(sent, "skip", 0),
        seconds=read_number(sent, "seconds", 0) if "seconds" in sent else None,
        retry_after=cast("RetryAfter", read_string(sent, "retry_after", "seconds")),
        origin=read_string(sent, "origin", "http://foreign.invalid"),
    )


def fault_from_text(text: str) -> Fault:
    """Read `name` or `name,field=value,...`, for example `stall,operation=list_itwins,count=2,seconds=3`."""
    name, *fields_text = text.split(",")
    values: JSONObject = {"name": name.strip()}
    for field_text in fields_text:
        key, found, value = field_text.partition("=")
        if not found:
            raise FieldError(
                None, f"{field_text!r} has no value; write a fault as name,field=value, such as stall,seconds=3"
            )
        values[key.strip()] = value.strip()
    return fault_from_values(values)


def fault_values(fault: Fault) -> JSONObject:
    """Return the fields of a fault as JSON."""
    return asdict(fault)
