from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class DetectorResponse(JSONModel):
    """Response of create detector.

    Attributes:
        detector: A detector (`Detector details`).
        additional_properties: the fields that the specification does not name.
    """

    detector: Detector
    """A detector (`Detector details`)."""

    FIELDS: ClassVar[Table] = {
        "detector": ("detector", ModelKind("Detector")),
    }


# Below the class, because models may refer to each other.
from ..models.detector import Detector  # noqa: E402

make_when_read(DetectorResponse, "detector")
