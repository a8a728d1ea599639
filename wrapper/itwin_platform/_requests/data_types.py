"""The data of scene objects: typed where the description shows the structure. Source: section 2.7."""

from .. import _api

#: Kinds whose data the description shows, and the model of each; every other kind stays a dict.
DATA_TYPES = {"RepositoryResource": "RepositoryResourceData", "View3d": "View3dData"}


def type_data(items: object) -> None:
    """Decode the data of each scene object of a list to the class of its kind, in place; other data stays."""
    models = (_api.SceneObject, _api.SceneObjectMinimal)
    readers = {kind: getattr(_api, name).from_dict for kind, name in DATA_TYPES.items()}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, models) and isinstance(item.data, dict) and isinstance(item.kind, str):
            read = readers.get(item.kind)
            item.data = item.data if read is None else read(item.data)
