from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class SceneCreate(JSONModel):
    """Body of create scene (`SceneCreateDTO`). The service checks the data against the caller's permissions and
    against the schemas of the objects.

    Attributes:
        display_name:
        id: Optional. Globally unique.
        description: Optional.
        parent_id: Optional. Must be a UUID.
        scene_data: Optional. At most 100 objects.
        additional_properties: the fields that the specification does not name.
    """

    display_name: str

    id: str | Unset = UNSET
    """Optional. Globally unique."""

    description: str | Unset = UNSET
    """Optional."""

    parent_id: str | Unset = UNSET
    """Optional. Must be a UUID."""

    scene_data: SceneDataCreate | Unset = UNSET
    """Optional. At most 100 objects."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "displayName": ("display_name", STRING),
        "description": ("description", STRING),
        "parentId": ("parent_id", STRING),
        "sceneData": ("scene_data", ModelKind("SceneDataCreate")),
    }


# Below the class, because models may refer to each other.
from ..models.scene_data_create import SceneDataCreate  # noqa: E402

make_when_read(SceneCreate, "scene_data")
