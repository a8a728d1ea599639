"""Checks that the installed version of openapi-python-client has what this project uses.

Two things tie the project to a version: its templates replace or import templates of the generator, and its modules use
Python names of the generator. The digests of the generator's templates are recorded from the last review of ours. The
Python names are read from our source.
"""

import ast
import hashlib
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
GENERATOR, PACKAGE = "openapi-python-client", "openapi_python_client"
STOCK = Path(str(files(PACKAGE))) / "templates"
OURS = PROJECT / "templates"
HERE = PROJECT / "tools" / "generation"
RECORD = HERE / "stock_templates.sha256"
#: The modules that use the generator's Python names.
USERS = (HERE / "generator.py", HERE / "naming.py", HERE / "lists.py")
IMPORTED = re.compile(r"""{%-?\s*(?:from|import|include|extends)\s+["']([^"']+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """The differences from the record: templates to review, and what must be fixed before generating."""

    installed: str
    recorded: str
    changed: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def text(self) -> str:
        """The message; empty without a conflict."""
        if not self.changed and not self.broken:
            return ""
        lines = [f"{GENERATOR} {self.installed} is installed, templates/ and tools/ were made for {self.recorded}:"]
        lines += [f"  {line}" for line in (*self.broken, *self.changed)]
        return "\n".join([*lines, f"To see what the generator changed: make templates-diff SINCE={self.recorded}"])


def conflicts(record: Path = RECORD, ours: Path = OURS, stock: Path = STOCK) -> Conflicts:
    """Compare the installed generator with the record and with the names in use."""
    recorded = record.read_text(encoding="utf-8")
    lines = moved(recorded, ours, stock)
    return Conflicts(
        installed=version(GENERATOR),
        recorded=recorded.splitlines()[0].rpartition(" ")[2],
        changed=tuple(line for line in lines if line.startswith("changed")),
        broken=(*(line for line in lines if not line.startswith("changed")), *missing_names()),
    )


def watched(ours: Path = OURS) -> dict[str, str]:
    """Return the templates of the generator that ours replace or import, each with the reason."""
    found = {path.name: f"templates/{path.name} replaces it" for path in ours.glob("*.jinja")}
    for path in sorted(ours.glob("*.jinja")):
        for name in IMPORTED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, f"templates/{path.name} imports it")
    return dict(sorted(found.items()))


def record(stock: Path = STOCK) -> str:
    """Return the text of the record, in the form of `sha256sum`."""
    names = sorted(path.relative_to(stock).as_posix() for path in stock.rglob("*.jinja"))
    lines = [f"{hashlib.sha256((stock / name).read_bytes()).hexdigest()}  {name}" for name in names]
    return "\n".join([f"# {GENERATOR} {version(GENERATOR)}", *lines, ""])


def moved(recorded: str, ours: Path = OURS, stock: Path = STOCK) -> list[str]:
    """Return a line for each template of the generator that ours replace or import and that differs from the record."""
    before, after = _digests(recorded), _digests(record(stock))
    lines: list[str] = []
    for name, why in watched(ours).items():
        if before.get(name) != after.get(name):
            state = "changed" if name in before and name in after else "new" if name in after else "gone"
            lines.append(f"{state}: {name} ({why})")
    return lines


def _digests(text: str) -> dict[str, str]:
    pairs = [line.split("  ") for line in text.splitlines() if not line.startswith("#")]
    return {name: digest for digest, name in pairs}


def missing_names(users: tuple[Path, ...] = USERS) -> list[str]:
    """Return a line for each missing Python name of the generator, and each missing argument, that we use."""
    return list(dict.fromkeys(text for path in users for text in _missing(path)))


def _missing(path: Path) -> Iterator[str]:
    tree, known = ast.parse(path.read_text(encoding="utf-8")), dict[str, object]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE:
            for alias in node.names:
                found = _imported(str(node.module), alias.name)
                if found is None:
                    yield f"gone: {node.module}.{alias.name} ({path.name}:{node.lineno} uses it)"
                else:
                    known[alias.asname or alias.name] = found
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in known:
                if not hasattr(known[name], attribute):
                    yield f"gone: {name}.{attribute} ({path.name}:{node.lineno} uses it)"
            case ast.Call(func=function, args=positional, keywords=keywords):
                names = [keyword.arg for keyword in keywords if keyword.arg]
                for what in _unknown(_called(function, known), len(positional), names):
                    yield f"gone: {what} of {ast.unparse(function)}() ({path.name}:{node.lineno} passes it)"


def _imported(module: str, name: str) -> object | None:
    try:
        found: object = getattr(importlib.import_module(module), name, None)
        return found if found is not None else importlib.import_module(f"{module}.{name}")
    except ImportError:
        return None


def _called(function: ast.expr, known: dict[str, object]) -> object | None:
    """Return the object that a call calls, if it belongs to the generator."""
    match function:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in known:
            found: object = getattr(known[name], attribute, None)
            return found
    return None


def _unknown(called: object | None, count: int, names: list[str]) -> Iterator[str]:
    """Yield the arguments that a callable does not accept."""
    if not callable(called):
        return
    parameters = inspect.signature(called).parameters
    kinds = [parameter.kind for parameter in parameters.values()]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        yield from (f"{name}=" for name in names if name not in parameters)
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and count > sum(kind in by_position for kind in kinds):
        yield f"argument {count}"
