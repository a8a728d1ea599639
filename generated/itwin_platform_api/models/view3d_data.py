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
        fields: tuple[tuple[str, Any], ...] = (
            ("position", self.position),
            ("direction", self.direction),
            ("up", self.up),
            ("isOrthographic", self.is_orthographic),
            ("aspectRatio", self.aspect_ratio),
            ("near", self.near),
            ("far", self.far),
            ("ecefTransform", self.ecef_transform),
            ("fov", self.fov),
            ("width", self.width),
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


# Below the class, so that models may name each other; once, and not in each call.
from ..models.vector3d import Vector3d  # noqa: E402
