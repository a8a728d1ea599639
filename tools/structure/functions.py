"""How complex and how deeply nested the functions of a package are."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function with its figures."""

    name: str
    complexity: int
    nesting: int


def functions(package: Path) -> Iterator[Function]:
    """Yield each function and method of a package; a nested function also counts as part of its outer function."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, _FUNCTIONS):
                name = f"{path.relative_to(package)}:{node.lineno} {node.name}"
                yield Function(name=name, complexity=complexity(node), nesting=nesting(node))


def complexity(function: ast.AST) -> int:
    """Return the cyclomatic complexity: 1, and 1 more for each branch.

    Stricter than ruff's C901, which counts no `and`, `or`, conditional expressions and comprehensions.
    """
    return 1 + sum(_branches(node) for node in ast.walk(function))


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    divides = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.Assert)
    return int(isinstance(node, divides))


def nesting(node: ast.AST) -> int:
    """Return the depth of the most deeply nested block; an `elif` is as deep as its `if`."""
    return max((_below(child, node) for child in ast.iter_child_nodes(node)), default=0)


def _below(child: ast.AST, parent: ast.AST) -> int:
    is_elif = isinstance(child, ast.If) and isinstance(parent, ast.If) and child in parent.orelse[:1]
    # `else:` with nothing but an `if` in it has the same tree as `elif`.
    return nesting(child) + (isinstance(child, _BLOCKS) and not is_elif)
