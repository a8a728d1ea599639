from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "iTwinId",
        "repositoryId",
        "id",
        "class",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "iTwinId",
        "repositoryId",
        "id",
        "class",
        "subClass",
    )
)


@_attrs_define(repr=False)
class RepositoryResourceData(JSONModel):
    """`data` of a scene object of kind RepositoryResource. Its strings are untrusted: escape or sanitize them before
    rendering.

    Attributes:
        itwin_id: iTwin the resource belongs to.
        repository_id: For built-in repositories such as iModels it equals the class; for external repositories
            it is a unique identifier.
        id: Resource id; may be a GUID or another string.
        class_: Class of the repository, e.g. iModels, RealityData, GeographicInformationSystem.
        sub_class: Subclass where applicable.
        additional_properties: the fields that the specification does not name.
    """

    itwin_id: str
    """iTwin the resource belongs to."""

    repository_id: str
    """For built-in repositories such as iModels it equals the class; for external repositories it is a unique
    identifier."""

    id: str
    """Resource id; may be a GUID or another string."""

    class_: str
    """Class of the repository, e.g. iModels, RealityData, GeographicInformationSystem."""

    sub_class: str | Unset = UNSET
    """Subclass where applicable."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.itwin_id) is not UNSET:
            wire["iTwinId"] = value
        if (value := own.repository_id) is not UNSET:
            wire["repositoryId"] = value
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.class_) is not UNSET:
            wire["class"] = value
        if (value := own.sub_class) is not UNSET:
            wire["subClass"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.itwin_id = d["iTwinId"]
            model.repository_id = d["repositoryId"]
            model.id = d["id"]
            model.class_ = d["class"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 5
        if "subClass" in d:
            model.sub_class = d["subClass"]
        else:
            model.sub_class = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


RepositoryResourceDataParam = TypedDict(
    "RepositoryResourceDataParam",
    {
        "iTwinId": "NotRequired[str]",
        "repositoryId": "NotRequired[str]",
        "id": "NotRequired[str]",
        "class": "NotRequired[str]",
        "subClass": "NotRequired[str]",
    },
)
RepositoryResourceDataParam.__doc__ = (
    "A mapping that stands for RepositoryResourceData in a request, in the names of JSON."
)


takes_mapping(RepositoryResourceDataParam)
