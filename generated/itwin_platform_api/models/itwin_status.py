from enum import StrEnum
from typing import Self

from ..types import open_member


class ITwinStatus(StrEnum):
    ACTIVE = "Active"
    INACTIVE = "Inactive"
    TRIAL = "Trial"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
