from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, NUMBER, STRING, ByKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class SceneObjectCreate(JSONModel):
    """A scene object to create (`SceneObjectCreateDTO`). Inferred: `version`, `kind` and `data` are required, because
    the description calls the other properties optional.

    Attributes:
        version: Version of the JSON schema the object conforms to.
        kind: Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d
            (`SceneObjectKind`).
        data: Data of a scene object. It must conform to the schema that `kind` and `version` of the object
            name: `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which
            properties are required in a request, and the structures of other kinds, are not documented. Its strings
            are untrusted: escape or sanitize them before rendering.
        id: Globally unique. Optional on create.
        display_name: Optional.
        order: Optional position in lists.
        visible: Optional initial visibility.
        parent_id: Optional parent object id.
        related_id: Id of the related scene object that references the repository resource a styling object
            applies to. Required for resource styling objects, not allowed for others.
        additional_properties: the fields that the specification does not name.
    """

    version: str
    """Version of the JSON schema the object conforms to."""

    kind: SceneObjectKindParam
    """Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d (`SceneObjectKind`)."""

    data: Any | RepositoryResourceData | View3dData
    """Data of a scene object. It must conform to the schema that `kind` and `version` of the object name:
    `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which properties are
    required in a request, and the structures of other kinds, are not documented. Its strings are untrusted: escape
    or sanitize them before rendering."""

    id: str | Unset = UNSET
    """Globally unique. Optional on create."""

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
    }


# Below the class, because models may refer to each other.
from ..models.repository_resource_data import RepositoryResourceData  # noqa: E402
from ..models.view3d_data import View3dData  # noqa: E402

make_when_read(SceneObjectCreate, "data")


class SceneObjectCreateParam(TypedDict):
    """A mapping in place of SceneObjectCreate in a request, with the property names of JSON."""

    id: NotRequired[str]
    """Globally unique. Optional on create."""
    displayName: NotRequired[str]
    """Optional."""
    order: NotRequired[float]
    """Optional position in lists."""
    visible: NotRequired[bool]
    """Optional initial visibility."""
    version: str
    """Version of the JSON schema the object conforms to."""
    kind: SceneObjectKindParam
    """Name of the JSON schema the object conforms to. Common kinds: RepositoryResource, View3d (`SceneObjectKind`)."""
    parentId: NotRequired[str]
    """Optional parent object id."""
    relatedId: NotRequired[str]
    """Id of the related scene object that references the repository resource a styling object applies to. Required
    for resource styling objects, not allowed for others."""
    data: RepositoryResourceData | RepositoryResourceDataParam | View3dData | View3dDataParam | Mapping[str, object]
    """Data of a scene object. It must conform to the schema that `kind` and `version` of the object name:
    `RepositoryResourceData` for kind RepositoryResource, `View3dData` for kind View3d. Which properties are
    required in a request, and the structures of other kinds, are not documented. Its strings are untrusted:
    escape or sanitize them before rendering."""


from ..models.repository_resource_data import RepositoryResourceDataParam  # noqa: E402
from ..models.scene_object_kind import SceneObjectKindParam  # noqa: E402
from ..models.view3d_data import View3dDataParam  # noqa: E402

takes_mapping(SceneObjectCreateParam)
