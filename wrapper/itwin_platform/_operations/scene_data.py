"""Scene object data: typed where the description shows the structure, untrusted everywhere. Source: section 2.7."""

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .. import _api
from .._api import copy_values, encode
from .._errors import UsageError

if TYPE_CHECKING:
    from .._api import SceneObjectCreate

#: Kinds whose data the description shows, and the model of each; every other kind stays a dict.
DATA_TYPES = {"RepositoryResource": "RepositoryResourceData", "View3d": "View3dData"}

JSON = str | int | float | bool | list["JSON"] | dict[str, "JSON"] | None


def type_data(items: object) -> None:
    """Decode the data of each scene object of a list to the class of its kind, in place; other data stays."""
    models = (_api.SceneObject, _api.SceneObjectMinimal)
    readers = {kind: getattr(_api, name).from_dict for kind, name in DATA_TYPES.items()}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, models) and isinstance(item.data, dict) and isinstance(item.kind, str):
            read = readers.get(item.kind)
            item.data = item.data if read is None else read(item.data)


def objects_to_create(objects: Iterable["SceneObjectCreate | Mapping[str, object]"]) -> "list[SceneObjectCreate]":
    """Return the objects as the list of the body. They are serialized with the body, and never changed.

    Raises:
        UsageError: they cannot be iterated, or one is neither a model nor a mapping in wire names.
    """
    if not isinstance(objects, Iterable):
        raise UsageError(f"objects must be an iterable of scene objects, not {type(objects).__name__}")
    items: list[Any] = list(objects)
    kinds = (_api.SceneObjectCreate, Mapping)
    for item in items:
        if not isinstance(item, kinds):
            raise UsageError(f"objects must hold SceneObjectCreate models or mappings, not {type(item).__name__}")
    return items


def escape(data: object) -> JSON:
    """Return a copy with every string, keys included, escaped for HTML, quotes too. Source: section 2.7.

    Args:
        data: data of a scene object, typed or not, or any part of it.
    """
    copied: JSON = copy_values(data, scalar=_escaped, name=lambda key: html.escape(str(key), quote=True))
    return copied


def _escaped(value: object) -> str | int | float | None:
    encoded = encode(value)
    if encoded is None or isinstance(encoded, bool | int | float):
        return encoded
    return html.escape(str(encoded), quote=True)
