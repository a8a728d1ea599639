from enum import StrEnum
from typing import Self

from ..decoding import open_member


class RepositoryClass(StrEnum):
    """Repository Class."""

    CESIUM_CURATED_CONTENT = "CesiumCuratedContent"
    CONSTRUCTION = "Construction"
    FORMS = "Forms"
    GEOGRAPHIC_INFORMATION_SYSTEM = "GeographicInformationSystem"
    GEOSPATIAL_FEATURES = "GeospatialFeatures"
    IMODELS = "iModels"
    INDEXED_MEDIA = "IndexedMedia"
    PDF_PLANSETS = "PdfPlansets"
    REALITY_DATA = "RealityData"
    SENSOR_DATA = "SensorData"
    STORAGE = "Storage"
    SUBSURFACE = "Subsurface"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member
