from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_datetime,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "displayName",
        "lastModified",
        "isPartial",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "displayName",
        "lastModified",
        "isPartial",
    )
)


@_attrs_define(repr=False)
class SceneContext(JSONModel):
    """The scene whose objects are listed.

    Attributes:
        display_name: Scene name.
        last_modified: Scene last modification.
        is_partial: true when some objects are withheld because of insufficient permissions.
        additional_properties: the fields that the specification does not name.
    """

    display_name: str
    """Scene name."""

    last_modified: datetime.datetime
    """Scene last modification."""

    is_partial: bool
    """true when some objects are withheld because of insufficient permissions."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.last_modified) is not UNSET:
            wire["lastModified"] = value
        if (value := own.is_partial) is not UNSET:
            wire["isPartial"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.display_name = d["displayName"]
            model.last_modified = decode_datetime(d["lastModified"])
            model.is_partial = d["isPartial"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
