from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "position",
        "direction",
        "up",
        "isOrthographic",
        "aspectRatio",
        "near",
        "far",
        "ecefTransform",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "position",
        "direction",
        "up",
        "isOrthographic",
        "aspectRatio",
        "near",
        "far",
        "ecefTransform",
        "fov",
        "width",
    )
)


@_attrs_define(repr=False)
class View3dData(JSONModel):
    """`data` of a scene object of kind View3d. Inferred: `fov` and `width` are optional, because each is of one kind
    of view.

    Attributes:
        position: Camera eye location.
        direction: Camera pointing direction.
        up: Up direction relative to the camera.
        is_orthographic: Orthographic or perspective.
        aspect_ratio: Aspect ratio of the view.
        near: Near plane distance.
        far: Far plane distance.
        ecef_transform: 16 numbers, a 4x4 matrix in row-major order.
        fov: Field of view in radians, perspective views.
        width: Frustum width in meters, orthographic views.
        additional_properties: the fields that the specification does not name.
    """

    position: Vector3d
    """Camera eye location."""

    direction: Vector3d
    """Camera pointing direction."""

    up: Vector3d
    """Up direction relative to the camera."""

    is_orthographic: bool
    """Orthographic or perspective."""

    aspect_ratio: float
    """Aspect ratio of the view."""

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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.position) is not UNSET:
            wire["position"] = fields_of(value)
        if (value := own.direction) is not UNSET:
            wire["direction"] = fields_of(value)
        if (value := own.up) is not UNSET:
            wire["up"] = fields_of(value)
        if (value := own.is_orthographic) is not UNSET:
            wire["isOrthographic"] = value
        if (value := own.aspect_ratio) is not UNSET:
            wire["aspectRatio"] = value
        if (value := own.near) is not UNSET:
            wire["near"] = value
        if (value := own.far) is not UNSET:
            wire["far"] = value
        if (value := own.ecef_transform) is not UNSET:
            wire["ecefTransform"] = value
        if (value := own.fov) is not UNSET:
            wire["fov"] = value
        if (value := own.width) is not UNSET:
            wire["width"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            value = d["position"]
            model.position = Vector3d.from_dict(value) if isinstance(value, dict) else value
            value = d["direction"]
            model.direction = Vector3d.from_dict(value) if isinstance(value, dict) else value
            value = d["up"]
            model.up = Vector3d.from_dict(value) if isinstance(value, dict) else value
            model.is_orthographic = d["isOrthographic"]
            model.aspect_ratio = d["aspectRatio"]
            model.near = d["near"]
            model.far = d["far"]
            model.ecef_transform = d["ecefTransform"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 10
        if "fov" in d:
            model.fov = d["fov"]
        else:
            model.fov = UNSET
            known -= 1
        if "width" in d:
            model.width = d["width"]
        else:
            model.width = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.vector3d import Vector3d  # noqa: E402


class View3dDataParam(TypedDict):
    """A mapping that stands for View3dData in a request, in the names of JSON."""

    position: NotRequired[Vector3d | Vector3dParam]
    """Camera eye location."""
    direction: NotRequired[Vector3d | Vector3dParam]
    """Camera pointing direction."""
    up: NotRequired[Vector3d | Vector3dParam]
    """Up direction relative to the camera."""
    isOrthographic: NotRequired[bool]
    """Orthographic or perspective."""
    aspectRatio: NotRequired[float]
    """Aspect ratio of the view."""
    near: NotRequired[float]
    """Near plane distance."""
    far: NotRequired[float]
    """Far plane distance."""
    fov: NotRequired[float]
    """Field of view in radians, perspective views."""
    width: NotRequired[float]
    """Frustum width in meters, orthographic views."""
    ecefTransform: NotRequired[Sequence[float]]
    """16 numbers, a 4x4 matrix in row-major order."""


from ..models.vector3d import Vector3dParam  # noqa: E402

takes_mapping(View3dDataParam)
