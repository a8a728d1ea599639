from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ListKind, ModelKind, Table
from ..schemas import JSONModel


@_attrs_define(repr=False)
class SceneData(JSONModel):
    """The objects of a scene. The objects that create scene returns carry the fields id, displayName, visible, kind,
    version, data.

    Attributes:
        objects: The scene objects.
        additional_properties: the fields that the specification does not name.
    """

    objects: list[SceneObjectMinimal]
    """The scene objects."""

    FIELDS: ClassVar[Table] = {
        "objects": ("objects", ListKind(ModelKind("SceneObjectMinimal"))),
    }


# Below the class, because models may refer to each other.
from ..models.scene_object_minimal import SceneObjectMinimal  # noqa: E402
