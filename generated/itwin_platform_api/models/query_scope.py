from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class QueryScope(StrEnum):
    """Values of the header X-iTwin-Query-Scope. `MemberOfiTwin` (default): iTwins the user is a member of.
    `OrganizationAdmin`: all iTwins of the organization, for organization administrators."""

    MEMBER_OF_ITWIN = "MemberOfiTwin"
    ORGANIZATION_ADMIN = "OrganizationAdmin"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of QueryScope, its string, or any other string.
QueryScopeParam: TypeAlias = QueryScope | Literal["MemberOfiTwin", "OrganizationAdmin"] | str
