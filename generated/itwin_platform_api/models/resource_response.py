from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ResourceResponse(JSONModel):
    """Response of create repository resource.

    Attributes:
        resource: A repository resource.
        additional_properties: the fields that the specification does not name.
    """

    resource: Resource
    """A repository resource."""

    FIELDS: ClassVar[Table] = {
        "resource": ("resource", ModelKind("Resource")),
    }


# Below the class, because models may refer to each other.
from ..models.resource import Resource  # noqa: E402

make_when_read(ResourceResponse, "resource")
