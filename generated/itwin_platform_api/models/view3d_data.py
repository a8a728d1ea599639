from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NotRequired, TypedDict

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, NUMBER, ListKind, ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


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

    FIELDS: ClassVar[Table] = {
        "position": ("position", ModelKind("Vector3d")),
        "direction": ("direction", ModelKind("Vector3d")),
        "up": ("up", ModelKind("Vector3d")),
        "isOrthographic": ("is_orthographic", BOOLEAN),
        "aspectRatio": ("aspect_ratio", NUMBER),
        "near": ("near", NUMBER),
        "far": ("far", NUMBER),
        "fov": ("fov", NUMBER),
        "width": ("width", NUMBER),
        "ecefTransform": ("ecef_transform", ListKind(NUMBER)),
    }


# Below the class, because models may refer to each other.
from ..models.vector3d import Vector3d  # noqa: E402

make_when_read(View3dData, "position")
make_when_read(View3dData, "direction")
make_when_read(View3dData, "up")


class View3dDataParam(TypedDict):
    """A mapping in place of View3dData in a request, with the property names of JSON."""

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
