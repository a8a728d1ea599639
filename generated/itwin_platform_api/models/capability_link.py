from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel


@_attrs_define(repr=False)
class CapabilityLink(JSONModel):
    """Where a capability is found: for a repository the endpoint returning the list of its resources, for a resource
    the location of its graphics content.

    Attributes:
        uri: For graphics, the value changes and may hold an access key that expires.
        additional_properties: the fields that the specification does not name.
    """

    uri: str
    """For graphics, the value changes and may hold an access key that expires."""

    FIELDS: ClassVar[Table] = {
        "uri": ("uri", STRING),
    }
    SECRETS: ClassVar[frozenset[str]] = frozenset(["uri"])
