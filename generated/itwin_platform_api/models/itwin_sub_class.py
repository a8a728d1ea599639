from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class ITwinSubClass(StrEnum):
    """iTwin SubClass."""

    ACCOUNT = "Account"
    ASSET = "Asset"
    PORTFOLIO = "Portfolio"
    PROGRAM = "Program"
    PROJECT = "Project"
    WORK_PACKAGE = "WorkPackage"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of ITwinSubClass, its string, or any other string.
ITwinSubClassParam: TypeAlias = (
    ITwinSubClass | Literal["Account", "Portfolio", "Asset", "Program", "Project", "WorkPackage"] | str
)
