"""The settings of a client that may come from the environment."""

import os

from .._errors import UsageError


def setting(name: str, value: str | None, variable: str) -> str:
    """Return a setting that was passed, or the one in the environment.

    Raises:
        UsageError: there is neither, or it is not a string.
    """
    found = value if value is not None else os.environ.get(variable)
    if not found:
        raise UsageError(f"{name} is missing: pass {name}=... or set the environment variable {variable}")
    if not isinstance(found, str):
        raise UsageError(f"{name} must be a str, not {type(found).__name__}")
    return found
