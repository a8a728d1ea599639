from enum import StrEnum
from typing import Self

from ..types import open_member


class ResourceClass(StrEnum):
    CESIUM_CURATED_CONTENT = "CesiumCuratedContent"
    GEOGRAPHIC_INFORMATION_SYSTEM = "GeographicInformationSystem"
    GEOSPATIAL_FEATURES = "GeospatialFeatures"
    IMODELS = "iModels"
    PDF_PLANSETS = "PdfPlansets"
    REALITY_DATA = "RealityData"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
