"""How many files and lines of code the wrapper has, by folder."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

WRAPPER = Path(__file__).resolve().parents[2] / "wrapper" / "itwin_platform"
#: The name of the first level among the folders.
FIRST_LEVEL = "(first level)"
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


def by_folder(package: Path = WRAPPER) -> Counter[str]:
    """Count the code lines in the files of each folder, without its subfolders."""
    found: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        folder = path.parent.relative_to(package).as_posix()
        found[FIRST_LEVEL if folder == "." else folder] += code_lines(path.read_text(encoding="utf-8"))
    return found


def first_level_files(package: Path = WRAPPER) -> int:
    """Count the modules at the first level."""
    return len(list(package.glob("*.py")))
