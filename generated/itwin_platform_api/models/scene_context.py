from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    UNSET,
    decode_datetime,
    describe,
    encode_fields,
)


@_attrs_define(repr=False)
class SceneContext:
    """The scene whose objects are listed.
    Source: section 4.6"""

    display_name: str
    """Scene name."""

    last_modified: datetime.datetime
    """An ISO 8601 string in the form `YYYY-MM-DDTHH:mm:ss.sssZ`.
    Source: section 2"""

    is_partial: bool
    """true when some objects are withheld because of insufficient permissions."""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        return encode_fields(
            {
                "displayName": self.display_name,
                "lastModified": self.last_modified,
                "isPartial": self.is_partial,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        pop = d.pop
        model = cls(
            display_name=pop("displayName", UNSET),
            last_modified=decode_datetime(pop("lastModified", UNSET)),
            is_partial=pop("isPartial", UNSET),
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
