from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ErrorResponse(JSONModel):
    """Error body. A failure may have another body, or nulls in this one.

    Attributes:
        error: The error. Any of its properties may be null.
        additional_properties: the fields that the specification does not name.
    """

    error: ErrorBody
    """The error. Any of its properties may be null."""

    FIELDS: ClassVar[Table] = {
        "error": ("error", ModelKind("ErrorBody")),
    }


# Below the class, because models may refer to each other.
from ..models.error_body import ErrorBody  # noqa: E402

make_when_read(ErrorResponse, "error")
