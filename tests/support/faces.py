"""What tests name of the wrapper's private modules, wherever it is defined.

A module can be renamed, split and merged, and what is in it moved, without a change of a test.
"""

import importlib
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import itwin_platform

if TYPE_CHECKING:
    from itwin_platform._errors import *
    from itwin_platform._http.attempts.body import *
    from itwin_platform._http.attempts.call import *
    from itwin_platform._http.attempts.tokens import *
    from itwin_platform._http.attempts.transport import *
    from itwin_platform._http.connections.connection import KEEPALIVE as KEEPALIVE
    from itwin_platform._http.connections.engine import *
    from itwin_platform._http.connections.given_client import _warn as _warn, close_if_surplus as close_if_surplus
    from itwin_platform._http.connections.messages import *
    from itwin_platform._http.gates.redis import *
    from itwin_platform._http.gates.window import *
    from itwin_platform._http.policy import *
    from itwin_platform._operations import *
    from itwin_platform._operations.detectors import *
    from itwin_platform._operations.itwins import *
    from itwin_platform._operations.repositories import *
    from itwin_platform._operations.scenes import *
    from itwin_platform._operations.webhooks import *
    from itwin_platform._requests.platform import *
    from itwin_platform._requests.request import *
else:

    def __getattr__(name: str) -> object:
        """Find a function, a class or a constant."""
        return getattr(module_of(name), name)


_PACKAGE = Path(itwin_platform.__file__).parent
_DEFINITION = re.compile(r"^(?:class|def|async def) (\w+)", re.MULTILINE)
_CONSTANTS = re.compile(r"^(\w+(?:, \w+)*)(?:: [^=\n]+)? = ", re.MULTILINE)


@cache
def _modules() -> dict[str, list[str]]:
    """Return the modules that define each name; a class or a function is meant before a constant or an alias."""
    definitions: dict[str, list[str]] = {}
    constants: dict[str, list[str]] = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts, text = path.relative_to(_PACKAGE).with_suffix("").parts, path.read_text(encoding="utf-8")
        module = ".".join((_PACKAGE.name, *parts)).removesuffix(".__init__")
        for name in set(_DEFINITION.findall(text)):
            definitions.setdefault(name, []).append(module)
        for name in {name for names in _CONSTANTS.findall(text) for name in names.split(", ")}:
            constants.setdefault(name, []).append(module)
    return constants | definitions


def module_of(name: str) -> ModuleType:
    """Return the module that defines a function, a class or a constant.

    Raises:
        AttributeError: no module does, or several do.
    """
    modules = _modules().get(name, [])
    if len(modules) != 1:
        raise AttributeError(f"{name} is defined in {len(modules)} modules of {_PACKAGE.name}: {modules}")
    return importlib.import_module(modules[0])
