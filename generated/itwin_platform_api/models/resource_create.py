from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel
from ..unset import UNSET, Unset


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

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "type": ("type_", STRING),
        "displayName": ("display_name", STRING),
    }
