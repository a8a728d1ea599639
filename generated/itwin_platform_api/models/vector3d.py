from __future__ import annotations

from typing import ClassVar, TypedDict

from attrs import define as _attrs_define

from ..kinds import NUMBER, Table
from ..schemas import JSONModel, takes_mapping


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

    FIELDS: ClassVar[Table] = {
        "x": ("x", NUMBER),
        "y": ("y", NUMBER),
        "z": ("z", NUMBER),
    }


class Vector3dParam(TypedDict):
    """A mapping in place of Vector3d in a request, with the property names of JSON."""

    x: float
    """The first coordinate."""
    y: float
    """The second coordinate."""
    z: float
    """The third coordinate."""


takes_mapping(Vector3dParam)
