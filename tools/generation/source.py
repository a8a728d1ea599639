"""Source files as syntax trees, which are cached by their text."""

import ast
from functools import cache
from pathlib import Path


def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file, which is shared and must not be changed."""
    return _parsed(path.read_text(encoding="utf-8"))


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)
