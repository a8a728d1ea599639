from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class ITwinStatus(StrEnum):
    """iTwin Status. Default Active. Inactive iTwins are listed on request only. Transitions between statuses: not
    documented."""

    ACTIVE = "Active"
    INACTIVE = "Inactive"
    TRIAL = "Trial"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of ITwinStatus, its string, or any other string.
ITwinStatusParam: TypeAlias = ITwinStatus | Literal["Active", "Inactive", "Trial"] | str
