from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, ListKind, ModelKind, Table
from ..schemas import JSONModel
from ..unset import UNSET, Unset


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

    FIELDS: ClassVar[Table] = {
        "code": ("code", STRING),
        "message": ("message", STRING),
        "target": ("target", STRING),
        "details": ("details", ListKind(ModelKind("ErrorDetail"))),
    }


# Below the class, because models may refer to each other.
from ..models.error_detail import ErrorDetail  # noqa: E402
