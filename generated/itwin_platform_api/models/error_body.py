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
from ..unset import UNSET, Unset

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "code",
        "message",
        "target",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "code",
        "message",
        "target",
        "details",
    )
)


@_attrs_define(repr=False)
class ErrorBody(JSONModel):
    """The error. Any of its properties may be null.

    Attributes:
        code: The documented codes are those of `ErrorCode`.
        message:
        target:
        details: Optional.
        additional_properties: the fields that the specification does not name.
    """

    code: None | str
    """The documented codes are those of `ErrorCode`."""

    message: None | str

    target: None | str

    details: list[ErrorDetail] | None | Unset = UNSET
    """Optional."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.code) is not UNSET:
            wire["code"] = value
        if (value := own.message) is not UNSET:
            wire["message"] = value
        if (value := own.target) is not UNSET:
            wire["target"] = value
        if (value := own.details) is not UNSET:
            wire["details"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.code = d["code"]
            model.message = d["message"]
            model.target = d["target"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 4
        if "details" in d:
            model.details = decode_models(ErrorDetail.from_dict, d["details"])
        else:
            model.details = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.error_detail import ErrorDetail  # noqa: E402
