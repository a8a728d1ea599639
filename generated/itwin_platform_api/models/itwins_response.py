from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_models,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "iTwins",
        "_links",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "iTwins",
        "_links",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.itwins) is not UNSET:
            wire["iTwins"] = fields_of(value)
        if (value := own.links) is not UNSET:
            wire["_links"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.itwins = decode_models(ITwin.from_dict, d["iTwins"])
            value = d["_links"]
            model.links = PagingLinks.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 2
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.itwin import ITwin  # noqa: E402
from ..models.paging_links import PagingLinks  # noqa: E402
