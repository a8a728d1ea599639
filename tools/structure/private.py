"""Private attributes of other libraries that both packages use, also in strings; a decision record must name each."""

import ast
import inspect
import re
from collections.abc import Iterator

import httpx

from tools.structure.lines import PROJECT, TRANSPORT, WRAPPER

#: Methods of named tuples, which are documented in spite of their names.
_DOCUMENTED = ("_replace", "_asdict", "_fields", "_make")
#: Properties of a response that begin with an underscore.
_WIRE = {"_links"}


def foreign() -> dict[str, str]:
    """Return each private attribute that neither package defines, or that it shares with a class it derives from.

    A string that is the name of one counts too: `getattr` can read it.
    """
    modules = [*sorted(WRAPPER.rglob("*.py")), *sorted(TRANSPORT.rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules}
    defined = {name for tree in trees.values() for name in _defined(tree)}
    found: dict[str, str] = {}
    for path, tree in trees.items():
        place = path.relative_to(PROJECT).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in defined:
                found.setdefault(node.attr, f"{place}:{node.lineno}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.fullmatch(r"_[a-z]\w*", node.value) and node.value not in defined | _WIRE:
                    found.setdefault(node.value, f"{place}:{node.lineno}")
            elif isinstance(node, ast.ClassDef):
                for name in set(_stored(node)) & set(_inherited(node)):
                    found.setdefault(name, f"{place}:{node.lineno}")
    return found


def unrecorded() -> list[str]:
    """Return those that no decision record names."""
    records = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "docs" / "decisions").glob("*.md"))
    named = set(re.findall(r"`[\w.]*?\b(_\w+)`", records))
    return [f"{name} ({place})" for name, place in foreign().items() if name not in named]


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _DOCUMENTED


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.attr if isinstance(node, ast.Attribute) else node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _stored(node: ast.ClassDef) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and _is_private(each.attr):
            yield each.attr


def _inherited(node: ast.ClassDef) -> Iterator[str]:
    """Yield the private attributes of the classes of other libraries that a class derives from."""
    for base in node.bases:
        module, _, name = ast.unparse(base).rpartition(".")
        if module != "httpx":
            continue
        kind = getattr(httpx, name)
        yield from filter(_is_private, dir(kind))
        for function in filter(inspect.isfunction, vars(kind).values()):  # of the class itself, inspect finds no source
            yield from re.findall(r"self\.(_[a-z]\w*)", inspect.getsource(function))
