"""Updates the limits of arguments in docstrings of the wrapper, such as `1 to 200`, by those of the document."""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tools.generation.document import PACKAGE

#: A line about an argument, up to its limits.
_LIMITS = re.compile(r"^( +(\w+): .*?)(?:[\d.]+ to [\d.]*\d|\bat most [\d.]*\d)")


def stale(operations: Path) -> dict[Path, str]:
    """Return the corrected source of each module in a folder that has outdated limits in its docstrings."""
    modules = {path: path.read_text(encoding="utf-8") for path in sorted(operations.glob("*.py"))}
    return {path: text for path, source in modules.items() if (text := updated(source)) != source}


def updated(source: str) -> str:
    """Return the source of a module of operations with the limits of the generated package.

    Raises:
        SystemExit: A docstring states a limit for an argument without a limit.
    """
    tree, lines = ast.parse(source), source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            limits = {name: text for rules in _rules(node) or _rules(tree) for name, text in _stated(rules, "")}
            for number in range(node.body[0].lineno - 1, node.body[0].end_lineno or 0):
                lines[number] = _LIMITS.sub(partial(_line, limits), lines[number])
    return "".join(lines)


def _line(limits: Mapping[str, str], found: re.Match[str]) -> str:
    if found[2] not in limits:
        raise SystemExit(f"a docstring states a limit that openapi.yaml does not have: {found[0].strip()!r}")
    return found[1] + limits[found[2]]


def _rules(node: ast.AST) -> list[Mapping[str, Any]]:
    """Return the rules of the generated functions that a class, a function or a module refers to."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    names |= {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
    modules = importlib.import_module(f"{PACKAGE}.operations").MODULES
    return [importlib.import_module(f"{PACKAGE}.{modules[name]}").RULES for name in modules if name in names]


def _stated(rules: Mapping[str, Any], outer: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments with limits, and the limits in words; a rule without an argument limits the outer one."""
    for rule in rules.values():
        name = rule.argument or outer
        if rule.most is not None:
            yield name, f"at most {rule.most}" if rule.least is None else f"{rule.least} to {rule.most}"
        for inner in (rule.properties, rule.forms, {"": rule.items} if rule.items else {}):
            yield from _stated(inner, name)
