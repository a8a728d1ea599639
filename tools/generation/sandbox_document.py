"""Writes the copy of `openapi.yaml` that the sandbox ships: as JSON, without descriptions.

The sandbox checks requests by this file, and responds with its examples to operations that it does not implement.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.generation.document import Node

FILE = Path("sandbox") / "itwin_platform_sandbox" / "openapi.json"
#: Fields that only describe a part of the document. A property may have one of these names; its value is an object.
_PROSE = frozenset({"description", "summary", "title", "tags", "servers"})


def sandbox_document(document: Node) -> bytes:
    """Return the content of the file."""
    return f"{json.dumps(_without_prose(document), indent=1, ensure_ascii=False)}\n".encode()


def _without_prose(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_prose(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        name: value if name == "examples" else _without_prose(value)
        for name, value in node.items()
        if name not in _PROSE or isinstance(value, Mapping)
    }
