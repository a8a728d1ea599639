"""What this project needs of openapi-python-client, held against the version that is installed.

Two things tie us to one version: our templates replace some of its own, or take from them, and our modules use its
Python names. The digests of its templates are recorded as they were when ours were last looked through; which Python
names are used is read from our source.
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

from tools.generation.source import tree_of

PROJECT = Path(__file__).resolve().parents[2]
GENERATOR, PACKAGE = "openapi-python-client", "openapi_python_client"
STOCK = Path(str(files(PACKAGE))) / "templates"
OURS = PROJECT / "templates"
HERE = PROJECT / "tools" / "generation"
RECORD = HERE / "stock_templates.sha256"
#: The modules that use the generator's Python names.
USERS = (HERE / "generator.py", HERE / "naming.py")
TAKEN = re.compile(r"""{%-?\s*(?:from|import|include|extends)\s+["']([^"']+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """What is not as recorded: the templates to look through, and what must be mended before anything is generated."""

    installed: str
    recorded: str
    changed: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def text(self) -> str:
        """What to tell; empty where nothing conflicts."""
        if not self.changed and not self.broken:
            return ""
        lines = [f"{GENERATOR} {self.installed} is installed, templates/ and tools/ were made for {self.recorded}:"]
        lines += [f"  {line}" for line in (*self.broken, *self.changed)]
        return "\n".join([*lines, f"To see what the generator changed: make templates-diff SINCE={self.recorded}"])


def conflicts(record: Path = RECORD, ours: Path = OURS, stock: Path = STOCK) -> Conflicts:
    """Compare the installed generator with what is recorded and used."""
    recorded = record.read_text(encoding="utf-8")
    lines = moved(recorded, ours, stock)
    return Conflicts(
        installed=version(GENERATOR),
        recorded=recorded.splitlines()[0].rpartition(" ")[2],
        changed=tuple(line for line in lines if line.startswith("changed")),
        broken=(*(line for line in lines if not line.startswith("changed")), *missing_names()),
    )


def watched(ours: Path = OURS) -> dict[str, str]:
    """Return the templates that ours replace, were they the generator's, and those that ours take from: what for."""
    found = {path.name: f"templates/{path.name} replaces it" for path in ours.glob("*.jinja")}
    for path in sorted(ours.glob("*.jinja")):
        for name in TAKEN.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, f"templates/{path.name} takes from it")
    return dict(sorted(found.items()))


def record(stock: Path = STOCK) -> str:
    """Return the text of the record, in the form of `sha256sum`."""
    names = sorted(path.relative_to(stock).as_posix() for path in stock.rglob("*.jinja"))
    lines = [f"{hashlib.sha256((stock / name).read_bytes()).hexdigest()}  {name}" for name in names]
    return "\n".join([f"# {GENERATOR} {version(GENERATOR)}", *lines, ""])


def moved(recorded: str, ours: Path = OURS, stock: Path = STOCK) -> list[str]:
    """Return a line for each template of the generator that ours replace or take from and that is not as recorded."""
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
    """Return a line for each Python name of the generator, and each of its arguments, that is used and not there."""
    return list(dict.fromkeys(text for path in users for text in _missing(path)))


def _missing(path: Path) -> Iterator[str]:
    tree, known = tree_of(path), dict[str, object]()
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
    """Return what a call calls, if it is the generator's."""
    match function:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in known:
            found: object = getattr(known[name], attribute, None)
            return found
    return None


def _unknown(called: object | None, count: int, names: list[str]) -> Iterator[str]:
    """Return the arguments that something does not take."""
    if not callable(called):
        return
    parameters = inspect.signature(called).parameters
    kinds = [parameter.kind for parameter in parameters.values()]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        yield from (f"{name}=" for name in names if name not in parameters)
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and count > sum(kind in by_position for kind in kinds):
        yield f"argument {count}"
