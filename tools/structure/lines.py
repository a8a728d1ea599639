"""How many files and lines of code the wrapper has, by room."""

import ast
import io
import tokenize
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
#: The name of the first level among the rooms.
FIRST_LEVEL = "(first level)"
#: The room of what serves any service.
HTTP = "_http"
_SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source: str) -> int:
    """Count the lines without blank lines, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node):
            text = node.body[0]
            lines -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def by_room(package: Path = WRAPPER) -> dict[str, tuple[int, int]]:
    """Return files and code lines of each room: a folder at the first level with all that is in it."""
    found: dict[str, tuple[int, int]] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        room = parts[0] if len(parts) > 1 else FIRST_LEVEL
        files, lines = found.get(room, (0, 0))
        found[room] = files + 1, lines + code_lines(path.read_text(encoding="utf-8"))
    return found
