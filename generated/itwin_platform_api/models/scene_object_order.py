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
        return type(self), (self.value,)  # before 3.11.4 a member is copied by its name, which an unlisted one lacks


#: A member of SceneObjectOrder or its string, also one that the enum does not list.
SceneObjectOrderParam: TypeAlias = SceneObjectOrder | Literal["kind"] | str
