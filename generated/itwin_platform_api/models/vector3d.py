from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "x",
        "y",
        "z",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "x",
        "y",
        "z",
    )
)


@_attrs_define(repr=False)
class Vector3d(JSONModel):
    """A vector in three dimensions.

    Attributes:
        x: The first coordinate.
        y: The second coordinate.
        z: The third coordinate.
        additional_properties: the fields that the specification does not name.
    """

    x: float
    """The first coordinate."""

    y: float
    """The second coordinate."""

    z: float
    """The third coordinate."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.x) is not UNSET:
            wire["x"] = value
        if (value := own.y) is not UNSET:
            wire["y"] = value
        if (value := own.z) is not UNSET:
            wire["z"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.x = d["x"]
            model.y = d["y"]
            model.z = d["z"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


class Vector3dParam(TypedDict):
    """A mapping that stands for Vector3d in a request, in the names of JSON."""

    x: float
    """The first coordinate."""
    y: float
    """The second coordinate."""
    z: float
    """The third coordinate."""


takes_mapping(Vector3dParam)
