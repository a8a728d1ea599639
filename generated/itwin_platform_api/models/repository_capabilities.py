from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class RepositoryCapabilities(JSONModel):
    """Capabilities of a repository.

    Attributes:
        resources: `uri` is an endpoint returning the list of resources in the repository.
        additional_properties: the fields that the specification does not name.
    """

    resources: CapabilityLink
    """`uri` is an endpoint returning the list of resources in the repository."""

    FIELDS: ClassVar[Table] = {
        "resources": ("resources", ModelKind("CapabilityLink")),
    }


# Below the class, because models may refer to each other.
from ..models.capability_link import CapabilityLink  # noqa: E402

make_when_read(RepositoryCapabilities, "resources")
