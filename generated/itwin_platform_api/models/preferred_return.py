from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class PreferredReturn(StrEnum):
    """Values of the header Prefer: the minimal or the full representation of an iTwin."""

    RETURN_MINIMAL = "return=minimal"
    RETURN_REPRESENTATION = "return=representation"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of PreferredReturn, its string, or any other string.
PreferredReturnParam: TypeAlias = PreferredReturn | Literal["return=minimal", "return=representation"] | str
