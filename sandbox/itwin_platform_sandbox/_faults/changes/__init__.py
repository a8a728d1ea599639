"""Changes of responses, by the name of the fault."""

from collections.abc import Mapping

from ..catalogue import FaultName
from . import links, scene, seen_errors_and_headers, seen_shapes, seen_values, values
from .context import Change, ChangeContext
from .links import read_continuation_token
from .seen_values import accept_any_query_scope, names_any_query_scope

__all__ = [
    "RESPONSE_CHANGES",
    "Change",
    "ChangeContext",
    "accept_any_query_scope",
    "names_any_query_scope",
    "read_continuation_token",
]

RESPONSE_CHANGES: Mapping[FaultName, Change] = {
    "next_foreign": Change(links.foreign),
    "next_looping": Change(links.looping),
    "next_relative": Change(links.relative),
    "next_blank_led": Change(links.blank_led),
    "next_null": Change(links.null),
    "next_empty": Change(links.empty),
    "next_continuation_token": Change(links.continuation_token),
    "other_page_size": Change(links.other_page_size, applies=links.can_be_smaller, runs_again=True),
    "scene_changes": Change(scene.scene_changes, applies=scene.has_objects),
    "unknown_enum_values": Change(values.unknown_enum_values),
    "unknown_fields": Change(values.unknown_fields),
    "nulls": Change(values.nulls),
    "missing_fields": Change(values.missing_fields),
    "seen_enum_values": Change(seen_values.enum_values),
    "seen_times": Change(seen_values.times),
    "seen_shapes": Change(seen_shapes.shapes),
    "seen_headers": Change(seen_errors_and_headers.headers),
    "seen_errors": Change(seen_errors_and_headers.errors),
}
