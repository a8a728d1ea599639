"""Writes what the sandbox reads of `openapi.yaml`: the document as JSON, without descriptions and examples.

The sandbox validates requests by this file, which it ships, so no rule of the document has a second copy.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from tools.generation.document import Node, rebuilt

FILE = Path("sandbox") / "itwin_platform_sandbox" / "openapi.json"
#: What describes a part of the document; a property may have one of these names, and is no text.
_PROSE = frozenset({"description", "summary", "title", "tags", "servers"})


def sandbox_document(document: Node) -> bytes:
    """Return the content of the file."""
    return f"{json.dumps(rebuilt(document, _without_prose), indent=1, ensure_ascii=False)}\n".encode()


def _without_prose(node: Node) -> Node:
    return {name: value for name, value in node.items() if not _is_prose(name, value)}


def _is_prose(name: object, value: object) -> bool:
    is_text = isinstance(value, str) or (isinstance(value, list) and name in ("tags", "servers"))
    return (name in _PROSE and is_text) or (name == "examples" and isinstance(value, Mapping))
