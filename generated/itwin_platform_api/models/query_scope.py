from enum import StrEnum
from typing import Self

from ..types import open_member


class QueryScope(StrEnum):
    MEMBER_OF_ITWIN = "MemberOfiTwin"
    ORGANIZATION_ADMIN = "OrganizationAdmin"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
