"""The committed OpenAPI document, and other YAML of the repository, which one run parses once."""

from functools import cache
from pathlib import Path
from typing import Any

from tools.generation.document import load_document


@cache
def parsed(file: Path) -> dict[str, Any]:
    """Return a YAML file of the repository as Python values; to be copied, not changed."""
    return load_document(str(file))


def specification() -> dict[str, Any]:
    """Return openapi.yaml as Python values; to be copied, not changed."""
    return parsed(Path(__file__).resolve().parents[2] / "openapi.yaml")
