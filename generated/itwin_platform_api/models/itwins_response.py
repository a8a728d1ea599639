from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ListKind, ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ITwinsResponse(JSONModel):
    """Response of list iTwins: one page. `$select` and `Prefer` decide which properties the items have.

    Attributes:
        itwins:
        links: Paging links (`_links`). The last page has no `next`, the first no `prev`. Inferred: `self` is
            always there.
        additional_properties: the fields that the specification does not name.
    """

    itwins: list[ITwin]

    links: PagingLinks
    """Paging links (`_links`). The last page has no `next`, the first no `prev`. Inferred: `self` is always there."""

    FIELDS: ClassVar[Table] = {
        "iTwins": ("itwins", ListKind(ModelKind("ITwin"))),
        "_links": ("links", ModelKind("PagingLinks")),
    }


# Below the class, because models may refer to each other.
from ..models.itwin import ITwin  # noqa: E402
from ..models.paging_links import PagingLinks  # noqa: E402

make_when_read(ITwinsResponse, "links")
