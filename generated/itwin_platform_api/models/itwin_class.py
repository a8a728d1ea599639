from enum import StrEnum
from typing import Self

from ..decoding import open_member


class ITwinClass(StrEnum):
    """iTwin Class."""

    ACCOUNT = "Account"
    ENDEAVOR = "Endeavor"
    THING = "Thing"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member
