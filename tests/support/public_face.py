"""The public names of `itwin_platform`, and the functions, constructors and methods among them."""

import inspect
from typing import Any

import itwin_platform
from itwin_platform import PlatformClient
from itwin_platform_api import models

GROUPS = ("itwins", "repositories", "scenes", "detectors", "webhooks")
#: Never called by an application: the type of UNSET, and a warning that Python makes.
NOT_CALLED = ("Unset", "TruncatedWarning")
#: `__all__`, which type checkers do not see.
NAMES: list[str] = vars(itwin_platform)["__all__"]
EXPORTED = {name: getattr(itwin_platform, name) for name in NAMES}


def callables() -> dict[str, Any]:
    """Return the hand-written public functions, constructors and methods, by name."""
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
    """Return the public methods that our own classes define."""
    return [
        (name, member)
        for name, member in inspect.getmembers(value, callable)
        if not name.startswith("_")
        and name not in GROUPS  # on the class they are classes
        and str(getattr(member, "__module__", "")).startswith(("itwin_platform.", "itwin_platform_transport."))
    ]


CALLABLES = callables()
