from enum import StrEnum
from typing import Self

from ..types import open_member


class SceneObjectKind(StrEnum):
    """The common kinds of scene objects. Kinds are an open set: `kind` is a String that names a JSON schema.
    Source: section 2.7"""

    REPOSITORY_RESOURCE = "RepositoryResource"
    VIEW_3D = "View3d"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, protocol: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 a member is copied by its name, which an unlisted one lacks
