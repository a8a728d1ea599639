from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(("self",), UNSET)
_NAMES = frozenset(
    (
        "self",
        "next",
        "prev",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.self_) is not UNSET:
            wire["self"] = fields_of(value)
        if (value := own.next_) is not UNSET:
            wire["next"] = fields_of(value)
        if (value := own.prev) is not UNSET:
            wire["prev"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            value = d["self"]
            model.self_ = PagingLink.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        if "next" in d:
            value = d["next"]
            model.next_ = PagingLink.from_dict(value) if isinstance(value, dict) else value
        else:
            model.next_ = UNSET
            known -= 1
        if "prev" in d:
            value = d["prev"]
            model.prev = PagingLink.from_dict(value) if isinstance(value, dict) else value
        else:
            model.prev = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.paging_link import PagingLink  # noqa: E402
