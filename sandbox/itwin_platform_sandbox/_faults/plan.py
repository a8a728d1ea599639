"""The pending faults, and which of them affect a request."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .._service.fields import LARGEST_NUMBER, FieldError, check_choice
from .._service.operation_table import OPERATIONS
from .._service.retry_after import RETRY_AFTER_FORMS, RetryAfter
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

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

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
