from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    UNSET,
    Unset,
    decode_model,
    describe,
    encode_fields,
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
        return encode_fields(
            {
                "position": self.position,
                "direction": self.direction,
                "up": self.up,
                "isOrthographic": self.is_orthographic,
                "aspectRatio": self.aspect_ratio,
                "near": self.near,
                "far": self.far,
                "ecefTransform": self.ecef_transform,
                "fov": self.fov,
                "width": self.width,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.vector3d import Vector3d

        d = dict(src_dict)
        pop = d.pop
        model = cls(
            position=decode_model(Vector3d.from_dict, pop("position", UNSET)),
            direction=decode_model(Vector3d.from_dict, pop("direction", UNSET)),
            up=decode_model(Vector3d.from_dict, pop("up", UNSET)),
            is_orthographic=pop("isOrthographic", UNSET),
            aspect_ratio=pop("aspectRatio", UNSET),
            near=pop("near", UNSET),
            far=pop("far", UNSET),
            ecef_transform=pop("ecefTransform", UNSET),
            fov=pop("fov", UNSET),
            width=pop("width", UNSET),
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
