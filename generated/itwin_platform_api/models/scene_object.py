from __future__ import annotations

import datetime
from typing import Any, ClassVar

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, DATE_TIME, NUMBER, STRING, ByKind, Table
from ..methods import TIMES, make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class SceneObject(JSONModel):
    """A scene object as listed (`SceneObjectDTO`). The strings in `data` are untrusted: escape or sanitize them before
    rendering.

    Attributes:
        id: Globally unique.
        version: Version of the JSON schema the object conforms to.
        kind: Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d
            (`SceneObjectKind`).
        data: Data of a scene object. It must conform to the schema that `kind` and `version` of the object
            name: `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which
            properties are required in a request, and the structures of other kinds, are not documented. Its strings
            are untrusted: escape or sanitize them before rendering.
        scene_id: Only in list responses: scene that contains the object.
        created_by_id: Only in list responses.
        creation_time: Only in list responses.
        last_modified: Only in list responses.
        display_name: Optional.
        order: Optional position in lists.
        visible: Optional initial visibility.
        parent_id: Optional parent object id.
        related_id: Id of the related scene object that references the repository resource a styling object
            applies to. Required for resource styling objects, not allowed for others.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Globally unique."""

    version: str
    """Version of the JSON schema the object conforms to."""

    kind: str
    """Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d (`SceneObjectKind`)."""

    data: Any | RepositoryResourceData | View3dData
    """Data of a scene object. It must conform to the schema that `kind` and `version` of the object name:
    `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which properties are
    required in a request, and the structures of other kinds, are not documented. Its strings are untrusted: escape
    or sanitize them before rendering."""

    scene_id: str
    """Only in list responses: scene that contains the object."""

    created_by_id: str
    """Only in list responses."""

    creation_time: datetime.datetime
    """Only in list responses."""

    last_modified: datetime.datetime
    """Only in list responses."""

    display_name: str | Unset = UNSET
    """Optional."""

    order: float | Unset = UNSET
    """Optional position in lists."""

    visible: bool | Unset = UNSET
    """Optional initial visibility."""

    parent_id: str | Unset = UNSET
    """Optional parent object id."""

    related_id: str | Unset = UNSET
    """Id of the related scene object that references the repository resource a styling object applies to. Required for
    resource styling objects, not allowed for others."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "displayName": ("display_name", STRING),
        "order": ("order", NUMBER),
        "visible": ("visible", BOOLEAN),
        "version": ("version", STRING),
        "kind": ("kind", STRING),
        "parentId": ("parent_id", STRING),
        "relatedId": ("related_id", STRING),
        "data": ("data", ByKind({"RepositoryResource": "RepositoryResourceData", "View3d": "View3dData"})),
        "sceneId": ("scene_id", STRING),
        "createdById": ("created_by_id", STRING),
        "creationTime": ("creation_time", DATE_TIME),
        "lastModified": ("last_modified", DATE_TIME),
    }


# Below the class, because models may refer to each other.
from ..models.repository_resource_data import RepositoryResourceData  # noqa: E402
from ..models.view3d_data import View3dData  # noqa: E402

make_when_read(SceneObject, "data")
make_when_read(SceneObject, "creation_time", TIMES)
make_when_read(SceneObject, "last_modified", TIMES)
