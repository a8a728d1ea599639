from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_models,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_NAMES = frozenset(("objects",))


@_attrs_define(repr=False)
class SceneDataCreate(JSONModel):
    """The objects to create with a scene. At most 100 objects. More can be added with the create scene objects
    operation (not documented).

    Attributes:
        objects:
        additional_properties: the fields that the specification does not name.
    """

    objects: list[SceneObjectCreate] | Unset = UNSET

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.objects) is not UNSET:
            wire["objects"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        known = 1
        if "objects" in d:
            model.objects = decode_models(SceneObjectCreate.from_dict, d["objects"])
        else:
            model.objects = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.scene_object_create import SceneObjectCreate  # noqa: E402
