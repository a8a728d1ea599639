from __future__ import annotations

from typing import Any, ClassVar

from attrs import define as _attrs_define

from ..kinds import ANY, STRING, EnumKind, ListKind, Table
from ..models.detector_type import DetectorType
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class Detector(JSONModel):
    """A detector (`Detector details`).

    Attributes:
        name: Required on create.
        type_: Required on create.
        versions: All existing versions of the detector. A new detector has an empty array. Structure of a
            version entry: not documented.
        display_name: Optional.
        description: Optional.
        documentation_url: Optional.
        additional_properties: the fields that the specification does not name.
    """

    name: str
    """Required on create."""

    type_: DetectorType
    """Required on create."""

    versions: list[Any]
    """All existing versions of the detector. A new detector has an empty array. Structure of a version entry: not
    documented."""

    display_name: None | str | Unset = UNSET
    """Optional."""

    description: None | str | Unset = UNSET
    """Optional."""

    documentation_url: None | str | Unset = UNSET
    """Optional."""

    FIELDS: ClassVar[Table] = {
        "name": ("name", STRING),
        "displayName": ("display_name", STRING),
        "description": ("description", STRING),
        "type": ("type_", EnumKind("DetectorType")),
        "documentationUrl": ("documentation_url", STRING),
        "versions": ("versions", ListKind(ANY)),
    }
