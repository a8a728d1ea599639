from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

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

if TYPE_CHECKING:
    from ..models.vector3d import Vector3d


@_attrs_define(repr=False)
class View3dData:
    """`data` of a scene object of kind View3d.
    Source: section 2.7"""

    position: Vector3d
    """A vector in three dimensions.
    Source: section 2.7"""

    direction: Vector3d
    """A vector in three dimensions.
    Source: section 2.7"""

    up: Vector3d
    """A vector in three dimensions.
    Source: section 2.7"""

    is_orthographic: bool
    """Orthographic or perspective."""

    aspect_ratio: float

    near: float
    """Near plane distance."""

    far: float
    """Far plane distance."""

    ecef_transform: list[float]
    """16 numbers, a 4x4 matrix in row-major order."""

    fov: float | Unset = UNSET
    """Field of view in radians, perspective views."""

    width: float | Unset = UNSET
    """Frustum width in meters, orthographic views."""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {name: encode(value) for name, value in self.additional_properties.items()}
        value: Any
        if (value := self.position) is not UNSET:
            written["position"] = value if type(value) in PLAIN else encode(value)
        if (value := self.direction) is not UNSET:
            written["direction"] = value if type(value) in PLAIN else encode(value)
        if (value := self.up) is not UNSET:
            written["up"] = value if type(value) in PLAIN else encode(value)
        if (value := self.is_orthographic) is not UNSET:
            written["isOrthographic"] = value if type(value) in PLAIN else encode(value)
        if (value := self.aspect_ratio) is not UNSET:
            written["aspectRatio"] = value if type(value) in PLAIN else encode(value)
        if (value := self.near) is not UNSET:
            written["near"] = value if type(value) in PLAIN else encode(value)
        if (value := self.far) is not UNSET:
            written["far"] = value if type(value) in PLAIN else encode(value)
        if (value := self.ecef_transform) is not UNSET:
            written["ecefTransform"] = value if type(value) in PLAIN else encode(value)
        if (value := self.fov) is not UNSET:
            written["fov"] = value if type(value) in PLAIN else encode(value)
        if (value := self.width) is not UNSET:
            written["width"] = value if type(value) in PLAIN else encode(value)
        return written

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.vector3d import Vector3d

        d = dict(src_dict)
        model = cls.__new__(cls)
        pop = d.pop
        model.position = decode_model(Vector3d.from_dict, pop("position", UNSET))
        model.direction = decode_model(Vector3d.from_dict, pop("direction", UNSET))
        model.up = decode_model(Vector3d.from_dict, pop("up", UNSET))
        model.is_orthographic = pop("isOrthographic", UNSET)
        model.aspect_ratio = pop("aspectRatio", UNSET)
        model.near = pop("near", UNSET)
        model.far = pop("far", UNSET)
        model.ecef_transform = pop("ecefTransform", UNSET)
        model.fov = pop("fov", UNSET)
        model.width = pop("width", UNSET)
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
