"""The catalogue of faults: when each takes effect, on which responses, and what it does.

A fault takes effect in one of four phases, in this order: `listen` (no connection is made), `instead` (a scripted
response is sent and the operation is not carried out), `change` (the operation is carried out and its response is
changed; several faults may change one response) and `deliver` (the response goes over the wire in a bad way). A request
meets at most one fault of the phase `instead` and one of `deliver`: the one that was requested first.

A fault concerns requests for one of the eight operations. It counts only when it applies: a request on which it has no
effect neither uses it up nor counts as skipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

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
    """One row of the catalogue; `everywhere` means that it concerns unknown paths too."""

    phase: Phase
    responses: ResponseKind
    does: str
    everywhere: bool = False


FAULTS: Mapping[FaultName, FaultKind] = MappingProxyType(
    {
        "refuse": FaultKind("listen", "any", "nothing listens for `seconds`, and open connections are dropped"),
        "reset_before_effect": FaultKind("instead", "any", "the connection is reset, nothing has been done"),
        "rate_limited": FaultKind("instead", "any", "429 whose `retry_after` says `seconds` (1)"),
        "unavailable": FaultKind("instead", "any", "503 whose `retry_after` says `seconds` (1)"),
        "html_502": FaultKind("instead", "any", "502 with a page of HTML"),
        "text_500": FaultKind("instead", "any", "500 with plain text"),
        "error_null": FaultKind("instead", "any", '500 with {"error": null}'),
        "gateway_401": FaultKind("instead", "any", '401 with {"statusCode": 401, "message": ...}'),
        "token_expires": FaultKind("instead", "any", "the token of the request expires now: 401 from here on"),
        "max_return_refused": FaultKind("instead", "any", "422 InvalidHeaderValue for an X-Max-Return of 10000"),
        "next_foreign": FaultKind("change", "success", "the next link names another `origin`"),
        "next_looping": FaultKind("change", "success", "the next link names the same page again"),
        "next_relative": FaultKind("change", "success", "the next link has no scheme and host"),
        "next_blank_led": FaultKind("change", "success", "the next link begins with a blank"),
        "next_null": FaultKind("change", "success", "on the last page next is null instead of omitted"),
        "next_empty": FaultKind("change", "success", "on the last page next has an empty href"),
        "next_continuation_token": FaultKind("change", "success", "a continuation token replaces $skip in next"),
        "other_page_size": FaultKind("change", "success", "a page is a third smaller than requested"),
        "scene_changes": FaultKind("change", "success", "after the page an object is removed from the scene"),
        "unknown_enum_values": FaultKind("change", "success", "enumerations have values that nobody knows"),
        "unknown_fields": FaultKind("change", "success", "objects have fields that nobody knows"),
        "nulls": FaultKind("change", "success", "every field but the id is null"),
        "missing_fields": FaultKind("change", "success", "every field but the id is omitted"),
        "seen_enum_values": FaultKind("change", "success", "enumeration values that were seen and are not described"),
        "seen_times": FaultKind("change", "success", "times in the forms that were seen"),
        "seen_shapes": FaultKind("change", "success", "fields and wrappings that were seen and are not described"),
        "seen_headers": FaultKind(
            "change", "any", "headers that were seen, and gzip where it is accepted", everywhere=True
        ),
        "seen_errors": FaultKind(
            "change", "error", "error codes and bodies that were seen and are not described", everywhere=True
        ),
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
