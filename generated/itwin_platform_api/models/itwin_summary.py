from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.itwin_class import ITwinClass
from ..models.itwin_status import ITwinStatus
from ..models.itwin_sub_class import ITwinSubClass
from ..types import (
    UNSET,
    decode_enum,
    describe,
    encode_fields,
)


@_attrs_define(repr=False)
class ITwinSummary:
    """Minimal representation of an iTwin (`iTwin (summary)`).
    Source: section 2.5"""

    id: str
    """iTwin id."""

    class_: ITwinClass
    """iTwin Class.
    Source: section 2.5"""

    sub_class: ITwinSubClass
    """iTwin SubClass.
    Source: section 2.5"""

    type_: None | str
    """Open-ended type."""

    number: str
    """Unique code within the organization."""

    display_name: str
    """Display name."""

    status: ITwinStatus
    """iTwin Status. Default Active. Inactive iTwins are left out of the list operation unless requested. Transitions
    between statuses: not shown in the description.
    Source: sections 2.5, 3"""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        return encode_fields(
            {
                "id": self.id,
                "class": self.class_,
                "subClass": self.sub_class,
                "type": self.type_,
                "number": self.number,
                "displayName": self.display_name,
                "status": self.status,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        pop = d.pop
        model = cls(
            id=pop("id", UNSET),
            class_=decode_enum(ITwinClass, pop("class", UNSET)),
            sub_class=decode_enum(ITwinSubClass, pop("subClass", UNSET)),
            type_=pop("type", UNSET),
            number=pop("number", UNSET),
            display_name=pop("displayName", UNSET),
            status=decode_enum(ITwinStatus, pop("status", UNSET)),
        )
        model.additional_properties = d
        return model

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
