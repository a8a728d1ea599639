from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(("href",), UNSET)
_NAMES = frozenset(("href",))


@_attrs_define(repr=False)
class PagingLink(JSONModel):
    """A link to a page.

    Attributes:
        href:
        additional_properties: the fields that the specification does not name.
    """

    href: str

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.href) is not UNSET:
            wire["href"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.href = d["href"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
