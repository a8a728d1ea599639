"""Compares the complete objects of the wrapper with their rules in the generated package, both of which it imports."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.generation.document import PROJECT


def compared() -> Iterator[tuple[type, set[str], set[str]]]:
    """Yield each class of a complete object, with the properties that are gone and those that are new."""
    wrapper = importlib.import_module("itwin_platform._operations.repositories")
    rules = importlib.import_module("itwin_platform_api.api.repositories.update_repository").RULES["body"].properties
    forms = rules["authentication"].forms
    types: list[Any] = [cls for cls in vars(wrapper).values() if isinstance(cls, type) and "TYPE" in vars(cls)]
    documented = {cls: forms[cls.TYPE].properties if cls.TYPE in forms else () for cls in types}
    documented[wrapper.RepositoryOptions] = rules["options"].properties
    for cls, properties in documented.items():
        own: set[str] = set(cls.properties())
        wire = {name for name in properties if name != "type"}
        yield cls, own - wire, wire - own


def misfits() -> list[str]:
    """Return a line for each class with properties that are gone."""
    return [
        f"{_place(cls)}: openapi.yaml no longer has {', '.join(sorted(gone))}, which {cls.__name__} is made for"
        for cls, gone, _ in compared()
        if gone
    ]


def _place(cls: type) -> str:
    path = Path(inspect.getfile(cls)).resolve().relative_to(PROJECT)
    return f"{path.as_posix()}:{inspect.getsourcelines(cls)[1]}"
