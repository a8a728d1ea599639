"""Scene objects to create, and their data for a page of HTML, where it must be escaped. Source: section 2.7."""

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .. import _api
from .._api import copy_values, encode
from .._errors import UsageError

if TYPE_CHECKING:
    from .._api import SceneObjectCreate

JSON = str | int | float | bool | list["JSON"] | dict[str, "JSON"] | None


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
    """Return a copy in which every string is escaped for HTML, keys and quotes too.

    Args:
        data: data of a scene object, typed or not, or any part of it. It is not changed.

    Returns:
        A mapping, a list or a scalar, as JSON has them, with the property names of the service.

    Example:
        ```python
        async for item in platform.scenes.list_objects(scene_id, itwin_id, limit=10):
            print(escape(item.data))
        ```

    Source: section 2.7.
    """
    copied: JSON = copy_values(data, scalar=_escaped, name=lambda key: html.escape(str(key), quote=True))
    return copied


def _escaped(value: object) -> str | int | float | None:
    encoded = encode(value)
    if encoded is None or isinstance(encoded, bool | int | float):
        return encoded
    return html.escape(str(encoded), quote=True)
