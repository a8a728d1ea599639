from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_kind,
    make_when_read,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "version",
        "kind",
        "data",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "version",
        "kind",
        "data",
        "id",
        "displayName",
        "order",
        "visible",
        "parentId",
        "relatedId",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.version) is not UNSET:
            wire["version"] = value
        if (value := own.kind) is not UNSET:
            wire["kind"] = value
        if (value := own.data) is not UNSET:
            wire["data"] = fields_of(value)
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.order) is not UNSET:
            wire["order"] = value
        if (value := own.visible) is not UNSET:
            wire["visible"] = value
        if (value := own.parent_id) is not UNSET:
            wire["parentId"] = value
        if (value := own.related_id) is not UNSET:
            wire["relatedId"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.version = d["version"]
            model.kind = d["kind"]
            model.data = decode_kind(_DATA, d.get("kind"), d["data"])
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 9
        if "id" in d:
            model.id = d["id"]
        else:
            model.id = UNSET
            known -= 1
        if "displayName" in d:
            model.display_name = d["displayName"]
        else:
            model.display_name = UNSET
            known -= 1
        if "order" in d:
            model.order = d["order"]
        else:
            model.order = UNSET
            known -= 1
        if "visible" in d:
            model.visible = d["visible"]
        else:
            model.visible = UNSET
            known -= 1
        if "parentId" in d:
            model.parent_id = d["parentId"]
        else:
            model.parent_id = UNSET
            known -= 1
        if "relatedId" in d:
            model.related_id = d["relatedId"]
        else:
            model.related_id = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.repository_resource_data import RepositoryResourceData  # noqa: E402
from ..models.view3d_data import View3dData  # noqa: E402

_DATA = {
    "RepositoryResource": RepositoryResourceData.from_dict,
    "View3d": View3dData.from_dict,
}
make_when_read(SceneObjectCreate, "data")


class SceneObjectCreateParam(TypedDict):
    """A mapping that stands for SceneObjectCreate in a request, in the names of JSON."""

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
