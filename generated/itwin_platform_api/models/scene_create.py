from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(("displayName",), UNSET)
_NAMES = frozenset(
    (
        "displayName",
        "id",
        "description",
        "parentId",
        "sceneData",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.description) is not UNSET:
            wire["description"] = value
        if (value := own.parent_id) is not UNSET:
            wire["parentId"] = value
        if (value := own.scene_data) is not UNSET:
            wire["sceneData"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.display_name = d["displayName"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 5
        if "id" in d:
            model.id = d["id"]
        else:
            model.id = UNSET
            known -= 1
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
        if "sceneData" in d:
            value = d["sceneData"]
            model.scene_data = SceneDataCreate.from_dict(value) if isinstance(value, dict) else value
        else:
            model.scene_data = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.scene_data_create import SceneDataCreate  # noqa: E402
