from __future__ import annotations

from typing import ClassVar, NotRequired, TypedDict

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


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

    FIELDS: ClassVar[Table] = {
        "iTwinId": ("itwin_id", STRING),
        "repositoryId": ("repository_id", STRING),
        "id": ("id", STRING),
        "class": ("class_", STRING),
        "subClass": ("sub_class", STRING),
    }


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
    "A mapping in place of RepositoryResourceData in a request, with the property names of JSON."
)


takes_mapping(RepositoryResourceDataParam)
