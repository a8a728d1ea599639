from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, EnumKind, Table
from ..models.detector_type import DetectorType
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class DetectorCreate(JSONModel):
    """Body of create detector.

    Attributes:
        name:
        type_: Detector type.
        display_name: Optional.
        description: Optional.
        documentation_url: Optional.
        additional_properties: the fields that the specification does not name.
    """

    name: str

    type_: DetectorType
    """Detector type."""

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
    }
