from __future__ import annotations

from typing import ClassVar, Literal

from attrs import define as _attrs_define

from ..kinds import STRING, EnumKind, ModelKind, Table
from ..methods import make_when_read
from ..models.resource_class import ResourceClass
from ..models.resource_sub_class import ResourceSubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset


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

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "class": ("class_", EnumKind("ResourceClass")),
        "subClass": ("sub_class", EnumKind("ResourceSubClass")),
        "type": ("type_", STRING),
        "displayName": ("display_name", STRING),
        "capabilities": ("capabilities", ModelKind("ResourceCapabilities")),
    }


# Below the class, because models may refer to each other.
from ..models.resource_capabilities import ResourceCapabilities  # noqa: E402

make_when_read(Resource, "capabilities")
