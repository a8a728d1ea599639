from __future__ import annotations

from typing import Any, ClassVar

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, STRING, ByKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class SceneObjectMinimal(JSONModel):
    """A scene object as create scene returns it (`SceneObjectMinimalDTO`). The strings in `data` are untrusted: escape
    or sanitize them before rendering.

    Attributes:
        id: Globally unique.
        kind: Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d
            (`SceneObjectKind`).
        version: Version of the JSON schema the object conforms to.
        data: Data of a scene object. It must conform to the schema that `kind` and `version` of the object
            name: `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which
            properties are required in a request, and the structures of other kinds, are not documented. Its strings
            are untrusted: escape or sanitize them before rendering.
        display_name: Optional.
        visible: Optional initial visibility.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Globally unique."""

    kind: str
    """Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d (`SceneObjectKind`)."""

    version: str
    """Version of the JSON schema the object conforms to."""

    data: Any | RepositoryResourceData | View3dData
    """Data of a scene object. It must conform to the schema that `kind` and `version` of the object name:
    `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which properties are
    required in a request, and the structures of other kinds, are not documented. Its strings are untrusted: escape
    or sanitize them before rendering."""

    display_name: str | Unset = UNSET
    """Optional."""

    visible: bool | Unset = UNSET
    """Optional initial visibility."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "displayName": ("display_name", STRING),
        "visible": ("visible", BOOLEAN),
        "kind": ("kind", STRING),
        "version": ("version", STRING),
        "data": ("data", ByKind({"RepositoryResource": "RepositoryResourceData", "View3d": "View3dData"})),
    }


# Below the class, because models may refer to each other.
from ..models.repository_resource_data import RepositoryResourceData  # noqa: E402
from ..models.view3d_data import View3dData  # noqa: E402

make_when_read(SceneObjectMinimal, "data")
