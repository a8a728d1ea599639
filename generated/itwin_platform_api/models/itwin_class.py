from enum import StrEnum
from typing import Self

from ..types import open_member


class ITwinClass(StrEnum):
    ACCOUNT = "Account"
    ENDEAVOR = "Endeavor"
    THING = "Thing"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
