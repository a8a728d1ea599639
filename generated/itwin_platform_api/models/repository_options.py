from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    PLAIN,
    UNSET,
    Unset,
    decode_model,
    describe,
    encode,
)


@_attrs_define(repr=False)
class RepositoryOptions:
    """Options of a repository. The object is sent in full when changed.
    Source: sections 2.3, 4.1, 8"""

    query_parameters: QueryParameters | Unset = UNSET
    """Query parameters added to the uri of a GIS repository on each request. Types of the values: not shown in the
    description.
    Source: section 2.3"""

    minimum_level: int | Unset = UNSET
    """Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24 inclusive."""

    maximum_level: int | Unset = UNSET
    """Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24 inclusive."""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {name: encode(value) for name, value in self.additional_properties.items()}
        fields: tuple[tuple[str, Any], ...] = (
            ("queryParameters", self.query_parameters),
            ("minimumLevel", self.minimum_level),
            ("maximumLevel", self.maximum_level),
        )
        for name, value in fields:
            if value is not UNSET:
                written[name] = value if type(value) in PLAIN else encode(value)
        return written

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        model = cls.__new__(cls)
        pop = d.pop
        model.query_parameters = decode_model(QueryParameters.from_dict, pop("queryParameters", UNSET))
        model.minimum_level = pop("minimumLevel", UNSET)
        model.maximum_level = pop("maximumLevel", UNSET)
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


# Below the class, so that models may name each other; once, and not in each call.
from ..models.query_parameters import QueryParameters  # noqa: E402
