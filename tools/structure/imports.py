"""Which way imports go: down from folder to folder in the wrapper, and in a circle nowhere."""

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

from tools.structure.lines import PROJECT, WRAPPER

#: From the top to the ground: a module imports from its own folder or from those below.
#: A subfolder is below the folder that holds it.
ORDER = (
    *("_client", "_operations", "_listings", "_requests"),
    *("_http/attempts", "_http/gates", "_http", "_http/connections"),
)
GROUND = ("_errors", "_version")
RANK = {name: rank for rank, name in enumerate(ORDER)} | dict.fromkeys(GROUND, len(ORDER))
MODULES = sorted(path.relative_to(WRAPPER).with_suffix("").as_posix() for path in WRAPPER.rglob("*.py"))
#: The packages of the repository, each with the folder that holds it.
PACKAGES = (
    *(("wrapper", "itwin_platform"), ("generated", "itwin_platform_api"), ("sandbox", "itwin_platform_sandbox")),
    *((".", "tools"), (".", "measure"), (".", "tests")),
)


def folder(module: str) -> str:
    """Return the folder of a module, or the module itself at the first level."""
    return module.rpartition("/")[0] or module


def imported(module: str) -> Iterator[str]:
    """Yield what a module of the wrapper imports: of the wrapper as `_folder/name`, others by their full name."""
    path = WRAPPER / f"{module}.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom):
            folders = list(path.parent.relative_to(WRAPPER).parts)
            assert node.level <= len(folders) + 1, f"{module} reaches out of the package"  # noqa: S101  # a broken import
            above = folders[: len(folders) + 1 - node.level]
            names = [node.module.replace(".", "/")] if node.module else [alias.name for alias in node.names]
            yield from ("/".join([*above, name]) for name in names)


@cache
def own(module: str) -> frozenset[str]:
    """Return the modules of the wrapper that a module of it imports."""
    return frozenset(name for name in imported(module) if name.startswith("_"))


def upward() -> list[str]:
    """Return each import of the wrapper that goes up."""
    return [
        f"{module} imports {name}"
        for module in MODULES
        if module != "__init__"
        for name in sorted(own(module))
        if RANK[folder(name)] < RANK[folder(module)]
    ]


def circles() -> list[str]:
    """Return the modules of each package of the repository that import themselves by way of others.

    Imports for type checkers alone and imports within functions do not count: they close no circle at run time.
    """
    return [
        name
        for where, package in PACKAGES
        for name, reached in _reached(_graph(PROJECT / where, package)).items()
        if name in reached
    ]


def _graph(root: Path, package: str) -> dict[str, set[str]]:
    files = {_name(path, root): path for path in (root / package).rglob("*.py")}
    return {name: set(_imports(path, name)) & files.keys() for name, path in files.items()}


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, name: str) -> Iterator[str]:
    parts = name.split(".") + (["__init__"] if path.name == "__init__.py" else [])
    for node in _at_import(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            base = ".".join([*parts[: len(parts) - node.level], *([node.module] if node.module else [])])
            source = base if node.level else str(node.module)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def _at_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _at_import(child)


def _reached(graph: Mapping[str, Set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in graph:
        reached: set[str] = set()
        # A package imports its modules, and they import it: what counts is the way from module to module.
        ahead = {each for each in graph[name] if not name.startswith(f"{each}.")} - {name}
        while ahead:
            each = ahead.pop()
            reached.add(each)
            ahead |= {other for other in graph[each] if not each.startswith(f"{other}.")} - reached
        found[name] = reached
    return found
