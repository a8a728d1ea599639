from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class SceneObjectOrder(StrEnum):
    """What scene objects are ordered by. Other values: not documented."""

    KIND = "kind"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of SceneObjectOrder, its string, or any other string.
SceneObjectOrderParam: TypeAlias = SceneObjectOrder | Literal["kind"] | str
