from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "displayName",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "displayName",
        "type",
    )
)


@_attrs_define(repr=False)
class ResourceCreate(JSONModel):
    """Body of create repository resource (`iTwin-repository-resource-create`). The resource takes `class` and
    `subClass` from its repository.

    Attributes:
        id: Unique in the repository. Max 200 characters.
        display_name: Unique in the repository. Max 200 characters.
        type_: Optional. Max 100 characters. Cannot be empty.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Unique in the repository. Max 200 characters."""

    display_name: str
    """Unique in the repository. Max 200 characters."""

    type_: str | Unset = UNSET
    """Optional. Max 100 characters. Cannot be empty."""

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
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            model.display_name = d["displayName"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        if "type" in d:
            model.type_ = d["type"]
        else:
            model.type_ = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
