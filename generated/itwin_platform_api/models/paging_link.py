from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel


@_attrs_define(repr=False)
class PagingLink(JSONModel):
    """A link to a page.

    Attributes:
        href:
        additional_properties: the fields that the specification does not name.
    """

    href: str

    FIELDS: ClassVar[Table] = {
        "href": ("href", STRING),
    }
