from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ListKind, ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class SceneObjectsResponse(JSONModel):
    """Response of list scene objects: one page.

    Attributes:
        objects:
        scene_context: The scene whose objects are listed.
        links: `self`, and `prev`/`next` when they exist.
        additional_properties: the fields that the specification does not name.
    """

    objects: list[SceneObject]

    scene_context: SceneContext
    """The scene whose objects are listed."""

    links: PagingLinks
    """`self`, and `prev`/`next` when they exist."""

    FIELDS: ClassVar[Table] = {
        "objects": ("objects", ListKind(ModelKind("SceneObject"))),
        "sceneContext": ("scene_context", ModelKind("SceneContext")),
        "_links": ("links", ModelKind("PagingLinks")),
    }


# Below the class, because models may refer to each other.
from ..models.paging_links import PagingLinks  # noqa: E402
from ..models.scene_context import SceneContext  # noqa: E402
from ..models.scene_object import SceneObject  # noqa: E402

make_when_read(SceneObjectsResponse, "scene_context")
make_when_read(SceneObjectsResponse, "links")
