"""What can go wrong on request: the table of faults, and which of them a request meets.

A fault takes effect in one of four phases, in this order: `listen` (no connection is made), `instead` (a scripted
response is sent and the operation is not carried out), `change` (the operation is carried out and its response is
changed; several faults may change one response) and `deliver` (the response goes over the wire in a bad way). A request
meets at most one fault of the phase `instead` and one of `deliver`: the one that was requested first.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from .._service.operation_table import OPERATIONS
from .._service.retry_after import RETRY_AFTER_FORMS, RetryAfter

Phase = Literal["listen", "instead", "change", "deliver"]
# Which responses a fault is for; the others pass and do not count.
ResponseKind = Literal["any", "success", "error"]
FaultName = Literal[
    "refuse",
    "reset_before_effect",
    "rate_limited",
    "unavailable",
    "html_502",
    "text_500",
    "error_null",
    "gateway_401",
    "token_expires",
    "max_return_refused",
    "next_foreign",
    "next_looping",
    "next_relative",
    "next_blank_led",
    "next_null",
    "next_empty",
    "next_continuation_token",
    "other_page_size",
    "scene_changes",
    "unknown_enum_values",
    "unknown_fields",
    "nulls",
    "missing_fields",
    "seen_enum_values",
    "seen_times",
    "seen_shapes",
    "seen_headers",
    "seen_errors",
    "reset_after_effect",
    "reset_in_head",
    "reset_in_body",
    "stall",
    "trickle",
    "truncated_json",
    "empty",
    "null",
    "list",
    "gzip_bomb",
]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the table: when the fault takes effect, on which responses, and what it does."""

    phase: Phase
    responses: ResponseKind
    does: str


FAULTS: Mapping[FaultName, FaultKind] = MappingProxyType(
    {
        "refuse": FaultKind("listen", "any", "nothing listens for `seconds`, and open connections are dropped"),
        "reset_before_effect": FaultKind("instead", "any", "the connection is reset, nothing has been done"),
        "rate_limited": FaultKind("instead", "any", "429, with `retry_after` saying `seconds` (1)"),
        "unavailable": FaultKind("instead", "any", "503, with `retry_after` saying `seconds` (1)"),
        "html_502": FaultKind("instead", "any", "502 with a page of HTML"),
        "text_500": FaultKind("instead", "any", "500 with plain text"),
        "error_null": FaultKind("instead", "any", '500 with {"error": null}'),
        "gateway_401": FaultKind("instead", "any", '401 with {"statusCode": 401, "message": ...}'),
        "token_expires": FaultKind("instead", "any", "the token of the request has expired from now on: 401"),
        "max_return_refused": FaultKind("instead", "any", "422 InvalidHeaderValue for an X-Max-Return of 10000"),
        "next_foreign": FaultKind("change", "success", "the next link names another `origin`"),
        "next_looping": FaultKind("change", "success", "the next link names the same page again"),
        "next_relative": FaultKind("change", "success", "the next link has no scheme and host"),
        "next_blank_led": FaultKind("change", "success", "the next link begins with a blank"),
        "next_null": FaultKind("change", "success", "on the last page next is null instead of omitted"),
        "next_empty": FaultKind("change", "success", "on the last page next has an empty href"),
        "next_continuation_token": FaultKind("change", "success", "a continuation token takes the place of $skip"),
        "other_page_size": FaultKind("change", "success", "a page is a third smaller than asked for"),
        "scene_changes": FaultKind("change", "success", "after the page an object is removed from the scene"),
        "unknown_enum_values": FaultKind("change", "success", "enumerations have values that nobody knows"),
        "unknown_fields": FaultKind("change", "success", "objects have fields that nobody knows"),
        "nulls": FaultKind("change", "success", "every field but the id is null"),
        "missing_fields": FaultKind("change", "success", "every field but the id is omitted"),
        "seen_enum_values": FaultKind("change", "success", "values that were seen and are not described"),
        "seen_times": FaultKind("change", "success", "times in the forms that were seen"),
        "seen_shapes": FaultKind("change", "success", "fields and wrappings that were seen and are not described"),
        "seen_headers": FaultKind("change", "any", "headers that were seen, and gzip where it is accepted"),
        "seen_errors": FaultKind("change", "error", "error codes and bodies that were seen and are not described"),
        "reset_after_effect": FaultKind("deliver", "any", "the operation is done, then the connection is reset"),
        "reset_in_head": FaultKind("deliver", "any", "the connection is reset within the headers"),
        "reset_in_body": FaultKind("deliver", "any", "the connection is reset within the body"),
        "stall": FaultKind("deliver", "any", "the response is held back for `seconds`, forever without them"),
        "trickle": FaultKind("deliver", "any", "the body comes in small pieces over `seconds` (5)"),
        "truncated_json": FaultKind("deliver", "success", "the JSON ends half-way, the length fits"),
        "empty": FaultKind("deliver", "success", "the body is empty"),
        "null": FaultKind("deliver", "success", "the body is null"),
        "list": FaultKind("deliver", "success", "the body is a list"),
        "gzip_bomb": FaultKind("deliver", "success", "a small gzip body unpacks to 256 MiB of blanks and {}"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that was asked for; `count` None means forever, `operation` None means every request."""

    name: FaultName
    operation: str | None = None
    count: int | None = 1
    skip: int = 0
    seconds: float | None = None
    retry_after: RetryAfter = "seconds"
    origin: str = "http://foreign.invalid"

    def __post_init__(self) -> None:
        _check_choice("fault", self.name, FAULTS)
        if self.operation is not None:
            _check_choice("operation", self.operation, (row.name for row in OPERATIONS))
        _check_choice("form of retry-after", self.retry_after, RETRY_AFTER_FORMS)
        if (self.count is not None and self.count < 1) or self.skip < 0:
            raise ValueError("a fault happens at least once (count None: forever), and skips no less than 0 requests")
        if self.seconds is not None and not (self.seconds >= 0 and math.isfinite(self.seconds)):
            raise ValueError(f"seconds are not negative, not {self.seconds}")
        if self.name == "refuse" and (self.seconds is None or self.operation is not None):
            raise ValueError("refuse needs seconds and concerns every operation: nothing listens in that time")

    @property
    def kind(self) -> FaultKind:
        """The row of the table."""
        return FAULTS[self.name]


def _check_choice(what: str, name: str, choices: Iterable[str]) -> None:
    names = list(choices)
    if name not in names:
        raise ValueError(f"{name!r} is not a {what}; there are {', '.join(names)}")


# What `as_seen` turns on, in an order in which one change does not undo another; seeded ids are then as seen too.
SEEN_FAULTS = (
    Fault(name="seen_enum_values", count=None),
    Fault(name="seen_shapes", count=None),
    Fault(name="seen_times", count=None),
    Fault(name="seen_headers", count=None),
    Fault(name="seen_errors", count=None),
    Fault(name="other_page_size", count=None),
    Fault(name="next_continuation_token", operation="list_scene_objects", count=None),
    Fault(name="next_blank_led", count=None),
    Fault(name="next_null", count=None),
)


class FaultPlan:
    """The faults that are still to come, in the order in which they were asked for."""

    __slots__ = ("_faults",)

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Let the fault happen from the next request on."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Let no more faults happen."""
        self._faults.clear()

    def pending(self) -> tuple[Fault, ...]:
        """The faults that are left, each with the count and skip that are left."""
        return tuple(self._faults)

    def matching(self, phase: Phase, operation: str | None) -> list[Fault]:
        """The faults of one phase that this operation meets, also those that skip this request."""
        return [fault for fault in self._faults if fault.kind.phase == phase and fault.operation in (None, operation)]

    def count(self, fault: Fault) -> bool:
        """Count one request against the fault; says whether the fault happens to it."""
        place = next(index for index, other in enumerate(self._faults) if other is fault)
        if fault.skip:
            self._faults[place] = replace(fault, skip=fault.skip - 1)
            return False
        if fault.count == 1:
            del self._faults[place]
        elif fault.count is not None:
            self._faults[place] = replace(fault, count=fault.count - 1)
        return True

    def next_fault(self, phase: Phase, operation: str | None, responses: ResponseKind = "any") -> Fault | None:
        """The one fault of a phase that happens to a request with such a response."""
        for fault in self.matching(phase, operation):
            if fault.kind.responses in ("any", responses) and self.count(fault):
                return fault
        return None
