"""Writes what the sandbox reads of `openapi.yaml`: the document as JSON, without descriptions and examples.

The sandbox validates requests by this file, which it ships, so no rule of the document has a second copy.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path("sandbox") / "itwin_platform_sandbox" / "openapi.json"
#: What describes a part of the document; a property may have one of these names, and is no text.
_PROSE = frozenset({"description", "summary", "title", "tags", "servers"})


def sandbox_document(document: Mapping[str, Any]) -> bytes:
    """Return the content of the file."""
    return f"{json.dumps(_without_prose(document), indent=1, ensure_ascii=False)}\n".encode()


def _without_prose(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_prose(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {str(name): _without_prose(item) for name, item in value.items() if not _is_prose(name, item)}


def _is_prose(name: object, value: object) -> bool:
    is_text = isinstance(value, str) or (isinstance(value, list) and name in ("tags", "servers"))
    return (name in _PROSE and is_text) or (name == "examples" and isinstance(value, Mapping))
