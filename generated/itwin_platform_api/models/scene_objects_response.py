from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import (
    PLAIN,
    UNSET,
    decode_model,
    decode_models,
    describe,
    encode,
)


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
        written: dict[str, Any] = {name: encode(value) for name, value in self.additional_properties.items()}
        fields: tuple[tuple[str, Any], ...] = (
            ("objects", self.objects),
            ("sceneContext", self.scene_context),
            ("_links", self.links),
        )
        for name, value in fields:
            if value is not UNSET:
                written[name] = value if type(value) in PLAIN else encode(value)
        return written

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        model = cls.__new__(cls)
        pop = d.pop
        model.objects = decode_models(SceneObject.from_dict, pop("objects", UNSET))
        model.scene_context = decode_model(SceneContext.from_dict, pop("sceneContext", UNSET))
        model.links = decode_model(PagingLinks.from_dict, pop("_links", UNSET))
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


# Below the class, so that models may name each other; once, and not in each call.
from ..models.paging_links import PagingLinks  # noqa: E402
from ..models.scene_context import SceneContext  # noqa: E402
from ..models.scene_object import SceneObject  # noqa: E402
