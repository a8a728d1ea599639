"""Changes of answers, and of the requests that lead to them, by the name of the fault."""

from collections.abc import Callable, Mapping

from itwin_platform_sandbox._exchange import Answer, APIRequest
from itwin_platform_sandbox._faults import FaultName

from . import _links, _scene, _seen_errors_and_headers, _seen_shapes, _seen_values, _values
from ._context import ChangeContext
from ._links import read_continuation_token

__all__ = ["ANSWER_CHANGES", "REQUEST_CHANGES", "ChangeContext", "read_continuation_token"]

ANSWER_CHANGES: Mapping[FaultName, Callable[[ChangeContext, Answer], Answer]] = {
    "next_foreign": _links.foreign,
    "next_looping": _links.looping,
    "next_relative": _links.relative,
    "next_blank_led": _links.blank_led,
    "next_null": _links.null,
    "next_empty": _links.empty,
    "next_continuation_token": _links.continuation_token,
    "other_page_size": _links.other_page_size,
    "scene_changes": _scene.scene_changes,
    "unknown_enum_values": _values.unknown_enum_values,
    "unknown_fields": _values.unknown_fields,
    "nulls": _values.nulls,
    "missing_fields": _values.missing_fields,
    "seen_enum_values": _seen_values.enum_values,
    "seen_times": _seen_values.times,
    "seen_shapes": _seen_shapes.shapes,
    "seen_headers": _seen_errors_and_headers.headers,
    "seen_errors": _seen_errors_and_headers.errors,
}
REQUEST_CHANGES: Mapping[FaultName, Callable[[APIRequest], APIRequest]] = {
    "other_page_size": _links.ask_for_smaller_page,
    "seen_enum_values": _seen_values.take_any_query_scope,
}
