from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_kind,
    make_when_read,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "kind",
        "version",
        "data",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "kind",
        "version",
        "data",
        "displayName",
        "visible",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.kind) is not UNSET:
            wire["kind"] = value
        if (value := own.version) is not UNSET:
            wire["version"] = value
        if (value := own.data) is not UNSET:
            wire["data"] = fields_of(value)
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.visible) is not UNSET:
            wire["visible"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            model.kind = d["kind"]
            model.version = d["version"]
            model.data = decode_kind(_DATA, d.get("kind"), d["data"])
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 6
        if "displayName" in d:
            model.display_name = d["displayName"]
        else:
            model.display_name = UNSET
            known -= 1
        if "visible" in d:
            model.visible = d["visible"]
        else:
            model.visible = UNSET
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
make_when_read(SceneObjectMinimal, "data")
