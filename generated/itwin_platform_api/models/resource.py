from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    members_of,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..models.resource_class import ResourceClass
from ..models.resource_sub_class import ResourceSubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_ResourceClass = members_of(ResourceClass)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "class",
        "displayName",
        "capabilities",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "class",
        "displayName",
        "capabilities",
        "subClass",
        "type",
    )
)


@_attrs_define(repr=False)
class Resource(JSONModel):
    """A repository resource.

    Attributes:
        id: Unique within the repository. Max 200 characters. Each repository has a format of its own: do not
            parse it.
        class_: Copied from the repository.
        display_name: Unique within the repository. Max 200 characters.
        capabilities: Capabilities of a repository resource.
        sub_class: Copied from the repository, a value of `ResourceSubClass`; may be empty. How an empty value
            is written is not documented. Inferred: it is "" or null.
        type_: Optional. Max 100 characters. Absent when the repository gives no type.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Unique within the repository. Max 200 characters. Each repository has a format of its own: do not parse it."""

    class_: ResourceClass
    """Copied from the repository."""

    display_name: str
    """Unique within the repository. Max 200 characters."""

    capabilities: ResourceCapabilities
    """Capabilities of a repository resource."""

    sub_class: Literal[""] | None | ResourceSubClass | Unset = UNSET
    """Copied from the repository, a value of `ResourceSubClass`; may be empty. How an empty value is written is not
    documented. Inferred: it is "" or null."""

    type_: str | Unset = UNSET
    """Optional. Max 100 characters. Absent when the repository gives no type."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.class_) is not UNSET:
            wire["class"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.capabilities) is not UNSET:
            wire["capabilities"] = fields_of(value)
        if (value := own.sub_class) is not UNSET:
            wire["subClass"] = value
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            value = d["class"]
            try:
                model.class_ = _ResourceClass[value]
            except (KeyError, TypeError):
                model.class_ = decode_enum(ResourceClass, value)
            model.display_name = d["displayName"]
            value = d["capabilities"]
            model.capabilities = ResourceCapabilities.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 6
        if "subClass" in d:
            model.sub_class = decode_enum(ResourceSubClass, d["subClass"])
        else:
            model.sub_class = UNSET
            known -= 1
        if "type" in d:
            model.type_ = d["type"]
        else:
            model.type_ = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.resource_capabilities import ResourceCapabilities  # noqa: E402
