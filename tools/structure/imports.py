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
    *((".", "tools"), (".", "measure"), (".", "tests"), (".", "examples")),
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
    return frozenset(name for name in imported(module) if folder(name) in RANK)


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
    """Return the modules of the repository that import themselves by way of others.

    Imports for type checkers and imports within functions count too: whoever reads one of the modules needs the other.
    """
    files = {
        _name(path, PROJECT / where): path
        for where, package in PACKAGES
        for path in (PROJECT / where / package).rglob("*.py")
    }
    graph = {name: set(_imports(path, name, files)) for name, path in files.items()}
    return [name for name in graph if name in _reached(name, graph)]


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, name: str, files: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that a module imports: a package only for what it defines itself."""
    parts = name.split(".") + (["__init__"] if path.name == "__init__.py" else [])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = [(f"{source}.{alias.name}", source) for alias in node.names]
        else:
            continue
        yield from (module if module in files else source for module, source in names if source in files)


def _reached(name: str, graph: Mapping[str, Set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = set(graph[name])
    while ahead:
        each = ahead.pop()
        reached.add(each)
        ahead |= graph[each] - reached
    return reached
