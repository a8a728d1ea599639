from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class PrimaryAccountResponse(JSONModel):
    """Response of get primary account.

    Attributes:
        itwin: Minimal representation of an iTwin (`iTwin (summary)`).
        additional_properties: the fields that the specification does not name.
    """

    itwin: ITwinSummary
    """Minimal representation of an iTwin (`iTwin (summary)`)."""

    FIELDS: ClassVar[Table] = {
        "iTwin": ("itwin", ModelKind("ITwinSummary")),
    }


# Below the class, because models may refer to each other.
from ..models.itwin_summary import ITwinSummary  # noqa: E402

make_when_read(PrimaryAccountResponse, "itwin")
