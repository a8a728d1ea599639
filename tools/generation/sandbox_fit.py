"""Finds where the sandbox differs from a specification, each with the line to change.

It compares the table of operations, the wire names and enum values in the source, and what the rules accept and reject.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.generation.sandbox_rules import wrong_rules
from tools.generation.source import tree_of
from tools.generation.wire_names import codes_of, names_of, near, wire_constants
from tools.spec.specification import Operation, Specification

PROJECT = Path(__file__).resolve().parents[2]
SERVICE = PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service"
TABLE = SERVICE / "operation_table.py"
#: The folder of sample data, whose names are made up.
SEEDING = "seeding"
#: A kind of scene object that only the platform's own client has, and a header that only an error has.
UNDOCUMENTED = frozenset({"imodelvisibility", "x-itwin-create-scope"})


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


def sandbox_misfits(specification: Specification) -> list[str]:
    """Return a message for each line of the sandbox that a specification contradicts or does not have."""
    routes = {(each.method, each.path): each for each in specification.operations.values()}
    rows = [
        text
        for row in table()
        for text in _row(row, specification.operations.get(row.name), routes.get((row.method, row.path)))
    ]
    found = [*rows, *_dead(specification), *_gone_values(specification)]
    fitting = [row.name for row in table() if not any(row.place in text for text in rows)]
    return [*found, *wrong_rules(specification, fitting)]


def _dead(specification: Specification) -> Iterator[str]:
    """Yield a message for each wire name of the sandbox that no operation has."""
    known = names_of(specification) | codes_of(specification) | UNDOCUMENTED
    places: dict[str, list[str]] = {}
    for path in sorted(SERVICE.rglob("*.py")):
        if SEEDING not in path.parts:
            for name, line in wire_constants(tree_of(path)):
                if name.lower() not in known:
                    places.setdefault(name, []).append(f"{path.relative_to(PROJECT).as_posix()}:{line}")
    for name, found in places.items():
        yield (
            f"openapi.yaml no longer has {name}, which the sandbox writes out "
            f"({', '.join(dict.fromkeys(found))}).{near(name.lower(), known)}"
        )


def _gone_values(specification: Specification) -> Iterator[str]:
    """Yield a message for each listed value that the most similar enum does not have."""
    models = specification.models
    types = [model.fields["type"].limits.get("const") for model in models.values() if "type" in model.fields]
    choices = [{*map(str, types)}, *(set(model.values) for model in models.values())]
    for path in sorted(SERVICE.rglob("*.py")):
        for line, values in _lists(path) if SEEDING not in path.parts else ():
            like = max(choices, key=lambda choice: len(choice & values))
            for value in sorted(values - like) if 2 * len(values & like) > len(values) else ():
                place = f"{path.relative_to(PROJECT).as_posix()}:{line}"
                yield f"openapi.yaml no longer has the value {value}, which the sandbox accepts ({place})."


def _lists(path: Path) -> Iterator[tuple[int, set[str]]]:
    """Return the lines and the strings of each list, tuple, set and mapping in a module."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(keys=items):
                constants = [item.value for item in items if isinstance(item, ast.Constant)]
                yield node.lineno, {value for value in constants if isinstance(value, str)}


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
    """Return the version in the media type of an operation."""
    accept = operation.parameters.get("header Accept")
    found = re.search(r"\.v(\d+)\+", str(accept.default)) if accept is not None else None
    return int(found[1]) if found else None
