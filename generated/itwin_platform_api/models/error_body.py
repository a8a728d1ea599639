from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    UNSET,
    Unset,
    decode_list,
    decode_model,
    describe,
    encode_fields,
)

if TYPE_CHECKING:
    from ..models.error_detail import ErrorDetail


@_attrs_define(repr=False)
class ErrorBody:
    """The error. Clients must not assume that all its properties are non-null.
    Source: section 2.11"""

    code: str
    """The documented codes are those of `ErrorCode`."""

    message: str

    target: None | str

    details: list[ErrorDetail] | Unset = UNSET
    """Optional."""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        return encode_fields(
            {
                "code": self.code,
                "message": self.message,
                "target": self.target,
                "details": self.details,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.error_detail import ErrorDetail

        d = dict(src_dict)
        pop = d.pop
        model = cls(
            code=pop("code", UNSET),
            message=pop("message", UNSET),
            target=pop("target", UNSET),
            details=decode_list(lambda item: decode_model(ErrorDetail.from_dict, item), pop("details", UNSET)),
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
