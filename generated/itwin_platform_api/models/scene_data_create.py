from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ListKind, ModelKind, Table
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class SceneDataCreate(JSONModel):
    """The objects to create with a scene. At most 100 objects. More can be added with the create scene objects
    operation (not documented).

    Attributes:
        objects:
        additional_properties: the fields that the specification does not name.
    """

    objects: list[SceneObjectCreate] | Unset = UNSET

    FIELDS: ClassVar[Table] = {
        "objects": ("objects", ListKind(ModelKind("SceneObjectCreate"))),
    }


# Below the class, because models may refer to each other.
from ..models.scene_object_create import SceneObjectCreate  # noqa: E402
