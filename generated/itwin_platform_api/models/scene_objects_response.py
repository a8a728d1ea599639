from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    UNSET,
    decode_list,
    decode_model,
    describe,
    encode_fields,
)

if TYPE_CHECKING:
    from ..models.paging_links import PagingLinks
    from ..models.scene_context import SceneContext
    from ..models.scene_object import SceneObject


@_attrs_define(repr=False)
class SceneObjectsResponse:
    """Answer of list scene objects: one page.
    Source: section 4.6"""

    objects: list[SceneObject]

    scene_context: SceneContext
    """The scene whose objects are listed.
    Source: section 4.6"""

    links: PagingLinks
    """Paging links (`_links`). `next` exists only when a next page exists, `prev` only when a previous page exists.
    Source: section 2.10"""

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        return encode_fields(
            {
                "objects": self.objects,
                "sceneContext": self.scene_context,
                "_links": self.links,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.paging_links import PagingLinks
        from ..models.scene_context import SceneContext
        from ..models.scene_object import SceneObject

        d = dict(src_dict)
        pop = d.pop
        model = cls(
            objects=decode_list(lambda item: decode_model(SceneObject.from_dict, item), pop("objects", UNSET)),
            scene_context=decode_model(SceneContext.from_dict, pop("sceneContext", UNSET)),
            links=decode_model(PagingLinks.from_dict, pop("_links", UNSET)),
        )
        model.additional_properties = d
        return model

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
