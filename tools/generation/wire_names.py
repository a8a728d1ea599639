"""Finds names on the wire in the source of the wrapper and of the sandbox that a document does not have.

The wrapper passes most names to generated functions, where mypy finds one that is gone. A few are strings: the
parameters that a page changes, the properties that a listing selects, a header, a code.
"""

import ast
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from tools.generation.document import Node, nodes

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
#: The folders with such strings, and the modules with names that the document does not describe.
FOLDERS = (
    *(WRAPPER / name for name in ("_operations", "_listings", "_requests")),
    PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service",
)
UNDESCRIBED = ("deliveries.py", "document.py", "schema_checks.py")
#: Names in the data that the sandbox makes up.
MADE_UP = ("X-Key", "apiVersion", "iModelVisibility")
#: Strings that can only be a name on the wire: `displayName`, `$top`, `X-Max-Return`, `return=minimal`.
_SHAPE = re.compile(r"[a-z]+[A-Z]\w*|\$\w+|[Xx]-[\w-]+|return=\w+")


def dead_names(document: Node) -> list[str]:
    """Return a line for each name in the wrapper and the sandbox that a document does not have."""
    known = {name.lower() for name in MADE_UP} | {name.lower() for _, node in nodes(document) for name in _names(node)}
    return [
        f"{path.relative_to(PROJECT).as_posix()}:{line}: openapi.yaml has no {name}.{_near(name, known)}"
        for folder in FOLDERS
        for path in sorted(folder.glob("*.py"))
        if path.name not in UNDESCRIBED
        for name, line in _strings(ast.parse(path.read_text(encoding="utf-8")))
        if name.lower() not in known
    ]


def _names(node: Node) -> Iterator[str]:
    """Yield the names in an object of a document: of a parameter, of properties and headers, and of values."""
    if "in" in node:
        yield str(node["name"])
    for key in ("properties", "headers", "enum"):
        yield from map(str, node.get(key, ()))


def _strings(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the strings that are names, and the codes of errors, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(text), lineno=line)):
                yield text, line
            case ast.Constant(value=str(text), lineno=line) if _SHAPE.fullmatch(text):
                yield text, line


def _near(name: str, known: set[str]) -> str:
    close = get_close_matches(name.lower(), known, n=3)
    return f" The nearest that there is: {', '.join(close)}." if close else ""
