from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel


@_attrs_define(repr=False)
class ErrorDetail(JSONModel):
    """One detail of an error. Any of its properties may be null.

    Attributes:
        code: The documented codes are those of `ErrorDetailCode`.
        message:
        target:
        additional_properties: the fields that the specification does not name.
    """

    code: None | str
    """The documented codes are those of `ErrorDetailCode`."""

    message: None | str

    target: None | str

    FIELDS: ClassVar[Table] = {
        "code": ("code", STRING),
        "message": ("message", STRING),
        "target": ("target", STRING),
    }
