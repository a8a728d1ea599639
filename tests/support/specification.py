"""The committed OpenAPI document, and other YAML of the repository, which one run parses once."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

# The parser in C, which wheels of PyYAML have, is ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def parsed(file: Path) -> dict[str, Any]:
    """Return a YAML file of the repository as Python values; to be copied, not changed."""
    loaded: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), _LOADER)  # noqa: S506  # both loaders are safe
    return loaded


def specification() -> dict[str, Any]:
    """Return openapi.yaml as Python values; to be copied, not changed."""
    return parsed(Path(__file__).resolve().parents[2] / "openapi.yaml")
