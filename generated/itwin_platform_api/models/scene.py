from __future__ import annotations

import datetime
from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import DATE_TIME, STRING, ModelKind, Table
from ..methods import TIMES, make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class Scene(JSONModel):
    """A scene with its objects (`SceneWithObjectsDTO`).

    Attributes:
        id: Globally unique.
        display_name: User-defined.
        itwin_id: Owning iTwin.
        created_by_id: Creating user.
        creation_time: When the scene was created.
        last_modified: When the scene was modified last.
        scene_data: Scene objects.
        description: Optional.
        parent_id: Optional parent scene id.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Globally unique."""

    display_name: str
    """User-defined."""

    itwin_id: str
    """Owning iTwin."""

    created_by_id: str
    """Creating user."""

    creation_time: datetime.datetime
    """When the scene was created."""

    last_modified: datetime.datetime
    """When the scene was modified last."""

    scene_data: SceneData
    """Scene objects."""

    description: str | Unset = UNSET
    """Optional."""

    parent_id: str | Unset = UNSET
    """Optional parent scene id."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "displayName": ("display_name", STRING),
        "description": ("description", STRING),
        "parentId": ("parent_id", STRING),
        "iTwinId": ("itwin_id", STRING),
        "createdById": ("created_by_id", STRING),
        "creationTime": ("creation_time", DATE_TIME),
        "lastModified": ("last_modified", DATE_TIME),
        "sceneData": ("scene_data", ModelKind("SceneData")),
    }


# Below the class, because models may refer to each other.
from ..models.scene_data import SceneData  # noqa: E402

make_when_read(Scene, "creation_time", TIMES)
make_when_read(Scene, "last_modified", TIMES)
make_when_read(Scene, "scene_data")
