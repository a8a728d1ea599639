"""Changes of responses, and of the requests that lead to them, by the name of the fault."""

from collections.abc import Callable, Mapping

from ..._service.messages import APIRequest, ServiceResponse
from ..plan import FaultName
from . import links, scene, seen_errors_and_headers, seen_shapes, seen_values, values
from .context import ChangeContext
from .links import read_continuation_token

__all__ = ["REQUEST_CHANGES", "RESPONSE_CHANGES", "ChangeContext", "read_continuation_token"]

RESPONSE_CHANGES: Mapping[FaultName, Callable[[ChangeContext, ServiceResponse], ServiceResponse]] = {
    "next_foreign": links.foreign,
    "next_looping": links.looping,
    "next_relative": links.relative,
    "next_blank_led": links.blank_led,
    "next_null": links.null,
    "next_empty": links.empty,
    "next_continuation_token": links.continuation_token,
    "other_page_size": links.other_page_size,
    "scene_changes": scene.scene_changes,
    "unknown_enum_values": values.unknown_enum_values,
    "unknown_fields": values.unknown_fields,
    "nulls": values.nulls,
    "missing_fields": values.missing_fields,
    "seen_enum_values": seen_values.enum_values,
    "seen_times": seen_values.times,
    "seen_shapes": seen_shapes.shapes,
    "seen_headers": seen_errors_and_headers.headers,
    "seen_errors": seen_errors_and_headers.errors,
}
REQUEST_CHANGES: Mapping[FaultName, Callable[[APIRequest], APIRequest]] = {
    "other_page_size": links.ask_for_smaller_page,
    "seen_enum_values": seen_values.accept_any_query_scope,
}
