"""Source files as syntax trees; the same text is parsed once."""

import ast
from functools import cache
from pathlib import Path


def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file; it is shared, so it is not to be changed."""
    return _parsed(path.read_text(encoding="utf-8"))


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)
