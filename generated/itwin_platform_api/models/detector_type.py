from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class DetectorType(StrEnum):
    """Detector type."""

    ORTHOPHOTO_SEGMENTATION_DETECTOR = "OrthophotoSegmentationDetector"
    PHOTO_OBJECT_DETECTOR = "PhotoObjectDetector"
    PHOTO_SEGMENTATION_DETECTOR = "PhotoSegmentationDetector"
    POINT_CLOUD_SEGMENTATION_DETECTOR = "PointCloudSegmentationDetector"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of DetectorType, its string, or any other string.
DetectorTypeParam: TypeAlias = (
    DetectorType
    | Literal[
        "PhotoObjectDetector",
        "PhotoSegmentationDetector",
        "OrthophotoSegmentationDetector",
        "PointCloudSegmentationDetector",
    ]
    | str
)
