"""Where the sandbox's table of operations differs from a specification, each with the line to change.

The table is read and not imported: it need not fit, and the client alone may be installed.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.generation.source import tree_of
from tools.spec.specification import Operation, Specification

PROJECT = Path(__file__).resolve().parents[2]
SERVICE = PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service"
TABLE = SERVICE / "operation_table.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table: the version is the one in the vendor media type."""

    name: str
    method: str
    path: str
    version: int
    place: str


def table(file: Path = TABLE) -> list[Row]:
    """Return the rows of `OPERATIONS`."""
    tables = [
        node.value.elts
        for node in tree_of(file).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and ast.unparse(node.targets[0]) == "OPERATIONS"
    ]
    place = file.relative_to(PROJECT).as_posix() if file.is_relative_to(PROJECT) else file.name
    return [
        Row(name=str(name), method=str(method), path=str(path), version=version, place=f"{place}:{line}")
        for rows in tables
        for name, method, path, version, line in map(_row_of, rows)
    ]


def _row_of(row: ast.expr) -> tuple[object, object, object, int, int]:
    match row:
        case ast.Call(args=[ast.Constant(name), ast.Constant(method), ast.Constant(path), ast.Constant(version), _]):
            return name, method, path, int(str(version)), row.lineno
    raise SystemExit(f"{TABLE}:{row.lineno}: a row is Operation(name, method, path, version, function)")


def sandbox_misfits(specification: Specification, rows: list[Row] | None = None) -> list[str]:
    """Return a text for each row of the table that a specification contradicts."""
    routes = {(each.method, each.path): each for each in specification.operations.values()}
    return [
        text
        for row in (table() if rows is None else rows)
        for text in _row(row, specification.operations.get(row.name), routes.get((row.method, row.path)))
    ]


def _row(row: Row, operation: Operation | None, same_route: Operation | None) -> Iterator[str]:
    if operation is None:
        if same_route is not None:
            yield f"openapi.yaml calls {row.name} {same_route.name} now: rename it ({row.place})."
            return
        module = f"_service/operations/{row.name}.py"
        yield f"openapi.yaml no longer has {row.name}: remove its row ({row.place}), {module} and its tests."
        return
    if (operation.method, operation.path) != (row.method, row.path):
        now, was = f"{operation.method} {operation.path}", f"{row.method} {row.path}"
        yield f"openapi.yaml has {row.name} at {now} now: the sandbox still responds at {was} ({row.place})."
    version = _version(operation)
    if version is not None and version != row.version:
        yield f"openapi.yaml has {row.name} in version {version} now, the sandbox in {row.version} ({row.place})."


def _version(operation: Operation) -> int | None:
    """Return the version in the media type that an operation asks for."""
    accept = operation.parameters.get("header Accept")
    found = re.search(r"\.v(\d+)\+", str(accept.default)) if accept is not None else None
    return int(found[1]) if found else None
