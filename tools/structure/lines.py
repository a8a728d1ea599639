"""The lines of hand-written code of each part of the project, without blank lines, comments and docstrings."""

import ast
import io
import tokenize
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
TRANSPORT = PROJECT / "transport" / "itwin_platform_transport"
GENERATION = PROJECT / "tools" / "generation"
#: The folders of each part. The generation of code is one part with the templates, not with the other tools.
PARTS = {
    "wrapper": (WRAPPER,),
    "transport": (TRANSPORT,),
    "templates and generation": (PROJECT / "templates", GENERATION),
    "sandbox": (PROJECT / "sandbox",),
    "measure": (PROJECT / "measure",),
    "tools": tuple(path for path in sorted((PROJECT / "tools").iterdir()) if path.is_dir() and path != GENERATION),
    "tests": (PROJECT / "tests",),
}
#: The beginning of a comment line, by the suffix of the file.
_COMMENTS = {".lua": "--", ".jinja": "{#", ".js": "//", ".ts": "//", ".html": "<!--", ".lark": "//"}
_SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source: str, ending: str = ".py") -> int:
    """Count the lines of code of a file; a file of an unknown language has none.

    Args:
        source: The text of the file.
        ending: The suffix of its name, which determines the language.
    """
    if ending != ".py":
        lines = [line.strip() for line in source.splitlines()] if ending in _COMMENTS else []
        return sum(bool(line) and not line.startswith(_COMMENTS[ending]) for line in lines)
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SILENT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node):
            text = node.body[0]
            found -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(found)


def by_part() -> dict[str, int]:
    """Return the lines of code of each part."""
    return {
        part: sum(
            code_lines(path.read_text(encoding="utf-8"), path.suffix)
            for folder in folders
            for path in folder.rglob("*")
            if path.suffix == ".py" or path.suffix in _COMMENTS
        )
        for part, folders in PARTS.items()
    }
