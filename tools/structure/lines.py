"""How many lines of code each package has, by folder, with what is no Python beside it."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
TRANSPORT = PROJECT / "transport" / "itwin_platform_transport"
SANDBOX = PROJECT / "sandbox" / "itwin_platform_sandbox"
#: What stands beside both packages: Python that the generator copies.
SUPPORT = PROJECT / "templates" / "support"
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


def by_folder(package: Path) -> Counter[str]:
    """Return the code lines of each folder at the first level of a package, with all that is in it."""
    found = Counter[str]()
    for path in package.rglob("*.py"):
        folder, *inner = path.relative_to(package).parts
        found[folder if inner else "(first level)"] += code_lines(path.read_text(encoding="utf-8"))
    return found


def other_lines(package: Path, *patterns: str) -> int:
    """Count the lines of files that are no Python without blank lines and comments of Lua and JavaScript."""
    paths = (path for pattern in patterns for path in package.rglob(pattern))
    lines = (line.strip() for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith(("--", "//")) for line in lines)
