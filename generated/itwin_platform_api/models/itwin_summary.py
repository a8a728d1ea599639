from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, EnumKind, Table
from ..models.itwin_class import ITwinClass
from ..models.itwin_status import ITwinStatus
from ..models.itwin_sub_class import ITwinSubClass
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ITwinSummary(JSONModel):
    """Minimal representation of an iTwin (`iTwin (summary)`).

    Attributes:
        id: iTwin id.
        class_: iTwin Class.
        sub_class: iTwin SubClass.
        type_: Open-ended type.
        number: Unique code within the organization.
        display_name: Display name.
        status: Default Active.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """iTwin id."""

    class_: ITwinClass
    """iTwin Class."""

    sub_class: ITwinSubClass
    """iTwin SubClass."""

    type_: None | str
    """Open-ended type."""

    number: str
    """Unique code within the organization."""

    display_name: str
    """Display name."""

    status: ITwinStatus
    """Default Active."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "class": ("class_", EnumKind("ITwinClass")),
        "subClass": ("sub_class", EnumKind("ITwinSubClass")),
        "type": ("type_", STRING),
        "number": ("number", STRING),
        "displayName": ("display_name", STRING),
        "status": ("status", EnumKind("ITwinStatus")),
    }
