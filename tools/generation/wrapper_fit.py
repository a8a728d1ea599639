"""Finds the places of the wrapper that do not fit a generated package and its document.

mypy finds removed names, arguments and attributes, and values of another type. It does not find the wire names that the
wrapper and the sandbox have in strings: parameters of pages, selected properties, headers. Values that the wrapper
computes from the rules of the package fail when it is imported.
"""

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tools.generation.document import PACKAGE, PROJECT, WRAPPER, Node, nodes, operations, reached

CACHE = PROJECT / ".cache" / "mypy-of-generation"
GENERATED = "generated/"
#: The folders with names in strings, and the modules with names that the document does not describe.
FOLDERS = (
    *(WRAPPER / name for name in ("_operations", "_listings", "_requests")),
    PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service",
)
UNDESCRIBED = ("deliveries.py", "document.py", "schema_checks.py")
#: Names in the example data of the sandbox, which the document does not have.
MADE_UP = ("X-Key", "apiVersion", "iModelVisibility")
#: Strings that can only be a name on the wire: `displayName`, `$top`, `X-Max-Return`, `return=minimal`.
_NAME = re.compile(r"[a-z]+[A-Z]\w*|\$\w+|[Xx]-[\w-]+|return=\w+")


def misfits(document: Mapping[str, Any], *, generated: Path, errors: list[str]) -> list[str]:
    """Return a line for each place of the wrapper that does not fit; `errors` are the type errors of the wrapper."""
    found = [*errors, *dead_names(document)]
    return found or import_errors(WRAPPER.name, WRAPPER.parent, PROJECT / "transport", generated)


def dead_names(document: Node) -> list[str]:
    """Return a line for each name in the wrapper and the sandbox that a document does not have."""
    known = {name.lower() for name in (*MADE_UP, *_names(document))}
    lines: list[str] = []
    for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.py")) if path.name not in UNDESCRIBED):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value)):
                continue
            if node.value.lower() not in known:
                near = get_close_matches(node.value.lower(), known, n=3)
                nearest = f" Similar names: {', '.join(near)}." if near else ""
                place = f"{path.relative_to(PROJECT).as_posix()}:{node.lineno}"
                lines.append(f"{place}: openapi.yaml has no {node.value}.{nearest}")
    return lines


def _names(document: Node) -> Iterator[str]:
    """Yield the names of parameters, properties and headers in a document, and the values of enums."""
    for _, node in nodes(document):
        if "in" in node:
            yield str(node["name"])
        for key in ("properties", "headers", "enum"):
            yield from map(str, node.get(key, ()))


def wrapped() -> set[str]:
    """Return the operationId of each operation with a method, which is one that the wrapper imports."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in WRAPPER.rglob("*.py"))
    imports = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {alias.name for node in imports if str(node.module).startswith(f"{PACKAGE}.api.") for alias in node.names}


def without_method(document: Node) -> list[str]:
    """Return the operationId of each operation of a document without a method."""
    with_method = wrapped()
    return [node["operationId"] for _, _, node, _ in operations(document) if node["operationId"] not in with_method]


def schemas_without_method(document: Node) -> set[str]:
    """Return the names of the schemas that are used by operations without a method only."""
    names = without_method(document)
    parts: dict[bool, list[object]] = {True: [], False: []}
    for path, _, node, _ in operations(document):
        parts[node["operationId"] in names] += [node, document["paths"][path].get("parameters", ())]
    references = reached(document, parts[True]) - reached(document, parts[False])
    return {reference.rpartition("/")[2] for reference in references if "/schemas/" in reference}


def import_errors(package: str, *paths: Path) -> list[str]:
    """Import each module of a package, and each name that it exports, in a new process; return a line for each error.

    `paths` are the folders of the package and of its imports, which come first in the module search path.
    """
    command = [sys.executable, "-W", "error", "-c", _IMPORT_ALL, package]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return completed.stdout.replace(f"{PROJECT}{os.sep}", "").splitlines()


_IMPORT_ALL = """
import importlib, os, pkgutil, sys, traceback
folder = f"{os.sep}{sys.argv[1]}{os.sep}"
def load(name):
    try:
        module = importlib.import_module(name)
        for exported in getattr(module, "__all__", ()):
            getattr(module, exported)
        return module
    except Exception as error:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if folder in frame.filename]
        file, line = (own[-1].filename, own[-1].lineno) if own else (name, getattr(error, "lineno", 1))
        print(f"{file}:{line}: {type(error).__name__}: {error}")
package = load(sys.argv[1])
for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{sys.argv[1]}."):
    load(module.name)
"""


def type_errors(generated: Path) -> tuple[list[str], list[str]]:
    """Return the errors of mypy in the package of the folder `generated`, and its errors in the wrapper."""
    command = [sys.executable, "-c", _MYPY, "--strict", "--no-error-summary", "--no-color-output", "--config-file="]
    path = os.pathsep.join([str(generated), str(WRAPPER.parent), str(PROJECT / "transport")])
    environment = os.environ | {"MYPYPATH": path}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"  # a copy: mypy's results are wrong if two runs write to one cache
        with contextlib.suppress(OSError):  # there is no cache yet, or another run is copying it
            shutil.copytree(CACHE, cache)
        command += ["--cache-dir", str(cache), "-p", PACKAGE, "-p", WRAPPER.name]
        completed = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
        if not CACHE.exists():
            with contextlib.suppress(OSError):  # another run has copied its cache first
                shutil.copytree(cache, CACHE)
    lines = (completed.stdout + completed.stderr).replace(f"{generated}/", GENERATED).splitlines()
    found = [line for line in lines if ": note: " not in line] if completed.returncode else []
    own = [line for line in found if line.startswith(GENERATED)]
    return own, [line for line in found if line not in own]


# Without the paths of the editable installation, in which mypy would find removed modules in the committed package.
_MYPY = f"""
import sys
sys.path[:] = [path for path in sys.path if path and (".venv" in path or not path.startswith({str(PROJECT)!r}))]
from mypy.main import main
main(clean_exit=True)
"""
