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
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "objects",
        "sceneContext",
        "_links",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "objects",
        "sceneContext",
        "_links",
    )
)


@_attrs_define(repr=False)
class SceneObjectsResponse(JSONModel):
    """Response of list scene objects: one page.

    Attributes:
        objects:
        scene_context: The scene whose objects are listed.
        links: `self`, and `prev`/`next` when they exist.
        additional_properties: the fields that the specification does not name.
    """

    objects: list[SceneObject]

    scene_context: SceneContext
    """The scene whose objects are listed."""

    links: PagingLinks
    """`self`, and `prev`/`next` when they exist."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.objects) is not UNSET:
            wire["objects"] = fields_of(value)
        if (value := own.scene_context) is not UNSET:
            wire["sceneContext"] = fields_of(value)
        if (value := own.links) is not UNSET:
            wire["_links"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.objects = decode_models(SceneObject.from_dict, d["objects"])
            value = d["sceneContext"]
            model.scene_context = SceneContext.from_dict(value) if isinstance(value, dict) else value
            value = d["_links"]
            model.links = PagingLinks.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.paging_links import PagingLinks  # noqa: E402
from ..models.scene_context import SceneContext  # noqa: E402
from ..models.scene_object import SceneObject  # noqa: E402
