from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class PagingLinks(JSONModel):
    """Paging links (`_links`). The last page has no `next`, the first no `prev`. Inferred: `self` is always there.

    Attributes:
        self_: A link to a page.
        next_: Exists only when a next page exists.
        prev: Exists only when a previous page exists.
        additional_properties: the fields that the specification does not name.
    """

    self_: PagingLink
    """A link to a page."""

    next_: PagingLink | Unset = UNSET
    """Exists only when a next page exists."""

    prev: PagingLink | Unset = UNSET
    """Exists only when a previous page exists."""

    FIELDS: ClassVar[Table] = {
        "self": ("self_", ModelKind("PagingLink")),
        "next": ("next_", ModelKind("PagingLink")),
        "prev": ("prev", ModelKind("PagingLink")),
    }


# Below the class, because models may refer to each other.
from ..models.paging_link import PagingLink  # noqa: E402

make_when_read(PagingLinks, "self_")
make_when_read(PagingLinks, "next_")
make_when_read(PagingLinks, "prev")
