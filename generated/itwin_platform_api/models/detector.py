from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    members_of,
    unknown_of,
)
from ..encoding import Fields
from ..models.detector_type import DetectorType
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_DetectorType = members_of(DetectorType)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "name",
        "type",
        "versions",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "name",
        "type",
        "versions",
        "displayName",
        "description",
        "documentationUrl",
    )
)


@_attrs_define(repr=False)
class Detector(JSONModel):
    """A detector (`Detector details`).

    Attributes:
        name: Required on create.
        type_: Required on create.
        versions: All existing versions of the detector. A new detector has an empty array. Structure of a
            version entry: not documented.
        display_name: Optional.
        description: Optional.
        documentation_url: Optional.
        additional_properties: the fields that the specification does not name.
    """

    name: str
    """Required on create."""

    type_: DetectorType
    """Required on create."""

    versions: list[Any]
    """All existing versions of the detector. A new detector has an empty array. Structure of a version entry: not
    documented."""

    display_name: None | str | Unset = UNSET
    """Optional."""

    description: None | str | Unset = UNSET
    """Optional."""

    documentation_url: None | str | Unset = UNSET
    """Optional."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.name) is not UNSET:
            wire["name"] = value
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        if (value := own.versions) is not UNSET:
            wire["versions"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.description) is not UNSET:
            wire["description"] = value
        if (value := own.documentation_url) is not UNSET:
            wire["documentationUrl"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.name = d["name"]
            value = d["type"]
            try:
                model.type_ = _DetectorType[value]
            except (KeyError, TypeError):
                model.type_ = decode_enum(DetectorType, value)
            model.versions = d["versions"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 6
        if "displayName" in d:
            model.display_name = d["displayName"]
        else:
            model.display_name = UNSET
            known -= 1
        if "description" in d:
            model.description = d["description"]
        else:
            model.description = UNSET
            known -= 1
        if "documentationUrl" in d:
            model.documentation_url = d["documentationUrl"]
        else:
            model.documentation_url = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
