"""Checks that the templates of the installed openapi-python-client are those that this project's were made for.

Our templates replace or import some of them. Their digests are recorded from the last review of ours. mypy checks the
Python names of the generator that our modules use.
"""

import hashlib
import re
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
    """Compare the installed generator with the record."""
    recorded = record.read_text(encoding="utf-8")
    lines = moved(recorded, ours, stock)
    return Conflicts(
        installed=version(GENERATOR),
        recorded=recorded.splitlines()[0].rpartition(" ")[2],
        changed=tuple(line for line in lines if line.startswith("changed")),
        broken=tuple(line for line in lines if not line.startswith("changed")),
    )


def watched(ours: Path = OURS, stock: Path = STOCK) -> dict[str, str]:
    """Return the templates of the generator that ours replace or import, and those that these include, with reasons."""
    found = {path.name: f"templates/{path.name} replaces it" for path in ours.glob("*.jinja")}
    waiting = [(path, f"templates/{path.name}") for path in sorted(ours.glob("*.jinja"))]
    for path, place in waiting:
        for part in IMPORTED.findall(path.read_text(encoding="utf-8")) if path.is_file() else ():
            # Of a name that is computed, the folder is known.
            for each in [*(stock / part).glob("*.jinja")] or [stock / part]:
                name = each.relative_to(stock).as_posix()
                if name not in found:
                    found[name] = f"{place} imports it"
                    waiting.append((each, name))
    return dict(sorted(found.items()))


def record(stock: Path = STOCK) -> str:
    """Return the text of the record, in the form of `sha256sum`."""
    names = sorted(path.relative_to(stock).as_posix() for path in stock.rglob("*.jinja"))
    lines = [f"{hashlib.sha256((stock / name).read_bytes()).hexdigest()}  {name}" for name in names]
    return "\n".join([f"# {GENERATOR} {version(GENERATOR)}", *lines, ""])


def moved(recorded: str, ours: Path = OURS, stock: Path = STOCK) -> list[str]:
    """Return a line for each watched template of the generator that differs from the record."""
    before, after = _digests(recorded), _digests(record(stock))
    lines: list[str] = []
    for name, why in watched(ours, stock).items():
        if before.get(name) != after.get(name):
            state = "changed" if name in before and name in after else "new" if name in after else "gone"
            lines.append(f"{state}: {name} ({why})")
    return lines


def _digests(text: str) -> dict[str, str]:
    pairs = [line.split("  ") for line in text.splitlines() if not line.startswith("#")]
    return {name: digest for digest, name in pairs}
