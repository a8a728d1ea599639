from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    members_of,
    unknown_of,
)
from ..encoding import Fields
from ..models.itwin_class import ITwinClass
from ..models.itwin_status import ITwinStatus
from ..models.itwin_sub_class import ITwinSubClass
from ..schemas import JSONModel
from ..unset import UNSET

_ITwinClass = members_of(ITwinClass)
_ITwinSubClass = members_of(ITwinSubClass)
_ITwinStatus = members_of(ITwinStatus)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "class",
        "subClass",
        "type",
        "number",
        "displayName",
        "status",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "class",
        "subClass",
        "type",
        "number",
        "displayName",
        "status",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.class_) is not UNSET:
            wire["class"] = value
        if (value := own.sub_class) is not UNSET:
            wire["subClass"] = value
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        if (value := own.number) is not UNSET:
            wire["number"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.status) is not UNSET:
            wire["status"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            value = d["class"]
            try:
                model.class_ = _ITwinClass[value]
            except (KeyError, TypeError):
                model.class_ = decode_enum(ITwinClass, value)
            value = d["subClass"]
            try:
                model.sub_class = _ITwinSubClass[value]
            except (KeyError, TypeError):
                model.sub_class = decode_enum(ITwinSubClass, value)
            model.type_ = d["type"]
            model.number = d["number"]
            model.display_name = d["displayName"]
            value = d["status"]
            try:
                model.status = _ITwinStatus[value]
            except (KeyError, TypeError):
                model.status = decode_enum(ITwinStatus, value)
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 7
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
