"""The public face: every name of `itwin_platform`, and everything of it that an application can call."""

import inspect
from typing import Any

import itwin_platform
from itwin_platform import PlatformClient
from itwin_platform_api import models

GROUPS = ("itwins", "repositories", "scenes", "detectors", "webhooks")
#: The type of UNSET, and a warning that Python makes.
NOT_CALLED = ("Unset", "TruncatedWarning")
#: `__all__`, which type checkers do not see.
NAMES: list[str] = vars(itwin_platform)["__all__"]
EXPORTED = {name: getattr(itwin_platform, name) for name in NAMES}


def callables() -> dict[str, Any]:
    """Every public function, constructor and method that is written by hand, by name."""
    client = PlatformClient("https://s.example", vendor="v", token="t")
    found = {f"{group}.{name}": member for group in GROUPS for name, member in _members(getattr(client, group))}
    for name, value in EXPORTED.items():
        if inspect.isfunction(value):
            found[name] = value
        elif (
            inspect.isclass(value)
            and value.__module__ in ("itwin_platform", "itwin_platform_transport")
            and not hasattr(models, name)
            and name not in NOT_CALLED
        ):
            found |= {f"{name}.{inner}": member for inner, member in _members(value)} | {name: value}
    return found


def _members(value: object) -> list[tuple[str, Any]]:
    """The public methods that our own classes define."""
    return [
        (name, member)
        for name, member in inspect.getmembers(value, callable)
        if not name.startswith("_")
        and name not in GROUPS  # on the class they are classes
        and str(getattr(member, "__module__", "")).startswith(("itwin_platform.", "itwin_platform_transport."))
    ]


CALLABLES = callables()
