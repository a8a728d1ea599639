from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ResourceCapabilities(JSONModel):
    """Capabilities of a repository resource.

    Attributes:
        graphics: Location of the graphics content. The value changes and may hold an access key that expires.
        additional_properties: the fields that the specification does not name.
    """

    graphics: CapabilityLink
    """Location of the graphics content. The value changes and may hold an access key that expires."""

    FIELDS: ClassVar[Table] = {
        "graphics": ("graphics", ModelKind("CapabilityLink")),
    }


# Below the class, because models may refer to each other.
from ..models.capability_link import CapabilityLink  # noqa: E402

make_when_read(ResourceCapabilities, "graphics")
