"""The catalogue of faults: the phase of each, the responses that it affects, and its effect.

The phases, in this order, are `listen` (connections are refused), `instead` (a scripted response replaces the
operation), `change` (the response of the operation is changed; several faults may change one response) and `deliver`
(the response is sent with a fault). At most one fault of the phase `instead` and one of `deliver` affect a request: in
each phase, the fault that was added first.

A fault affects only requests for an operation of the document. A request without an effect of the fault does not change
its count or its skip.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Phase = Literal["listen", "instead", "change", "deliver"]
# The responses that a fault affects. Other responses do not change its count.
ResponseKind = Literal["any", "success", "error"]
_Instead = Literal["reset_before_effect", "rate_limited", "unavailable", "respond", "token_expires"]
_OfLinks = Literal["next_foreign", "next_looping", "next_relative", "next_blank_led", "next_null", "next_empty"]
_OfPages = Literal["next_continuation_token", "other_page_size", "scene_changes"]
_OfValues = Literal["unknown_enum_values", "unknown_fields", "nulls", "missing_fields"]
_OfConnections = Literal["refuse", "reset_after_effect", "reset_in_head", "reset_in_body", "stall", "trickle"]
_OfBodies = Literal["truncated_json", "empty", "null", "list"]
FaultName = Literal[_Instead, _OfLinks, _OfPages, _OfValues, _OfConnections, _OfBodies]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the catalogue."""

    phase: Phase
    responses: ResponseKind
    does: str


FAULTS: Mapping[FaultName, FaultKind] = MappingProxyType(
    {
        "refuse": FaultKind("listen", "any", "connections are refused for `seconds`, and open ones are dropped"),
        "reset_before_effect": FaultKind("instead", "any", "the connection is reset and the operation has no effect"),
        "rate_limited": FaultKind("instead", "any", "429 that requests a delay of `seconds` (default 1)"),
        "unavailable": FaultKind("instead", "any", "503 that requests a delay of `seconds` (default 1)"),
        "respond": FaultKind("instead", "any", "`status` (default 500) with `body` and `headers`"),
        "token_expires": FaultKind("instead", "any", "the token of the request expires: 401 for it from now on"),
        "next_foreign": FaultKind("change", "success", "the next link names `origin` instead of the service"),
        "next_looping": FaultKind("change", "success", "the next link names the same page"),
        "next_relative": FaultKind("change", "success", "the next link has no scheme and host"),
        "next_blank_led": FaultKind("change", "success", "the next link starts with a space"),
        "next_null": FaultKind("change", "success", "on the last page, next is null instead of omitted"),
        "next_empty": FaultKind("change", "success", "on the last page, next has an empty href"),
        "next_continuation_token": FaultKind("change", "success", "a continuation token replaces $skip in next"),
        "other_page_size": FaultKind("change", "success", "a page is a third smaller than requested"),
        "scene_changes": FaultKind("change", "success", "an object of the page is removed from the scene"),
        "unknown_enum_values": FaultKind("change", "success", "enums have unknown values"),
        "unknown_fields": FaultKind("change", "success", "objects have unknown fields"),
        "nulls": FaultKind("change", "success", "every field except id is null"),
        "missing_fields": FaultKind("change", "success", "every field except id is omitted"),
        "reset_after_effect": FaultKind("deliver", "any", "the operation has its effect, then the connection is reset"),
        "reset_in_head": FaultKind("deliver", "any", "the connection is reset within the headers"),
        "reset_in_body": FaultKind("deliver", "any", "the connection is reset within the body"),
        "stall": FaultKind("deliver", "any", "the response is delayed by `seconds`, by default forever"),
        "trickle": FaultKind("deliver", "any", "the body is sent in small pieces over `seconds` (default 5)"),
        "truncated_json": FaultKind("deliver", "success", "the JSON is cut off in the middle; Content-Length matches"),
        "empty": FaultKind("deliver", "success", "the body is empty"),
        "null": FaultKind("deliver", "success", "the body is null"),
        "list": FaultKind("deliver", "success", "the body is a list"),
    }
)
