from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class SceneResponse(JSONModel):
    """Response of create scene.

    Attributes:
        scene: A scene with its objects (`SceneWithObjectsDTO`).
        additional_properties: the fields that the specification does not name.
    """

    scene: Scene
    """A scene with its objects (`SceneWithObjectsDTO`)."""

    FIELDS: ClassVar[Table] = {
        "scene": ("scene", ModelKind("Scene")),
    }


# Below the class, because models may refer to each other.
from ..models.scene import Scene  # noqa: E402

make_when_read(SceneResponse, "scene")
