from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class SceneObjectKind(StrEnum):
    """The common kinds of scene objects. Kinds are an open set: `kind` is a String that names a JSON schema."""

    REPOSITORY_RESOURCE = "RepositoryResource"
    VIEW_3D = "View3d"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of SceneObjectKind, its string, or any other string.
SceneObjectKindParam: TypeAlias = SceneObjectKind | Literal["RepositoryResource", "View3d"] | str
