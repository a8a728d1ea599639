from enum import StrEnum
from typing import Self

from ..types import open_member


class ITwinSubClass(StrEnum):
    ACCOUNT = "Account"
    ASSET = "Asset"
    PORTFOLIO = "Portfolio"
    PROGRAM = "Program"
    PROJECT = "Project"
    WORK_PACKAGE = "WorkPackage"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
