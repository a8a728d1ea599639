from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_datetime,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "displayName",
        "iTwinId",
        "createdById",
        "creationTime",
        "lastModified",
        "sceneData",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "displayName",
        "iTwinId",
        "createdById",
        "creationTime",
        "lastModified",
        "sceneData",
        "description",
        "parentId",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.itwin_id) is not UNSET:
            wire["iTwinId"] = value
        if (value := own.created_by_id) is not UNSET:
            wire["createdById"] = value
        if (value := own.creation_time) is not UNSET:
            wire["creationTime"] = value
        if (value := own.last_modified) is not UNSET:
            wire["lastModified"] = value
        if (value := own.scene_data) is not UNSET:
            wire["sceneData"] = fields_of(value)
        if (value := own.description) is not UNSET:
            wire["description"] = value
        if (value := own.parent_id) is not UNSET:
            wire["parentId"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            model.display_name = d["displayName"]
            model.itwin_id = d["iTwinId"]
            model.created_by_id = d["createdById"]
            model.creation_time = decode_datetime(d["creationTime"])
            model.last_modified = decode_datetime(d["lastModified"])
            value = d["sceneData"]
            model.scene_data = SceneData.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 9
        if "description" in d:
            model.description = d["description"]
        else:
            model.description = UNSET
            known -= 1
        if "parentId" in d:
            model.parent_id = d["parentId"]
        else:
            model.parent_id = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.scene_data import SceneData  # noqa: E402
