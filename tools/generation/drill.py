"""Make changes to a copy of `openapi.yaml`, regenerate, and show which tool reports each change.

Run as `python -m tools.generation.drill`. A change that no tool reports is silent; the drill then ends with status 1.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.generation.drill_changes import ONCE_SILENT, SEVEN
from tools.generation.drill_further_changes import FURTHER
from tools.spec.reading import PROJECT, SPECIFICATION, load_document

LOCATION = re.compile(r"\b([\w/]+\.py):(\d+)")
CHANGES = "tools/generation/drill_changes.py or drill_further_changes.py"
FILE = re.compile(r"\b(?:tools|wrapper|sandbox|api|models|_\w+)/[\w/]+\.py\b|\b_api\.py\b|templates/\S+\.jinja")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The reports of generating and comparing about one change."""

    title: str
    reports: tuple[str, ...]
    files: tuple[str, ...]
    lines: int

    @property
    def row(self) -> str:
        """The change as a row of a table."""
        reports = ", ".join(self.reports) or "**silent**"
        return f"| {self.title} | {reports} | {', '.join(self.files) or '-'} | {self.lines} |"


def attempt(title: str, document: object) -> Outcome:
    """Generate from a changed document, and compare it with the committed one."""
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "changed.yaml"
        changed.write_text(json.dumps(document), encoding="utf-8")
        into = ("--spec", str(changed), "--into", folder)
        generated = _run("tools.generation.generate", *into)
        compared = _run("tools.spec.diff", str(SPECIFICATION), str(changed), path=folder)
    if broken := next((each.stderr for each in (generated, compared) if "Traceback" in each.stderr), ""):
        raise SystemExit(f"{title}: a tool ends with a traceback\n{broken}")
    reports: list[str] = []
    if generated.returncode:
        reports.append("make generate rejects it")
    if "does not fit any more" in generated.stdout:
        reports.append("make generate names what does not fit")
    if "Generated, not wrapped" in generated.stdout:
        reports.append("make generate prints the call")
    counts = {name: int(count) for name, count in re.findall(r"^(\w[\w ,]*): (\d+)$", compared.stdout, re.MULTILINE)}
    reports += [f"spec-diff: {count} {name.lower()}" for name, count in counts.items() if count]
    if compared.returncode not in (0, 1):
        reports.append("spec-diff cannot read it")
    misfits = generated.stdout.partition("does not fit any more")[2] + generated.stderr
    locations = sorted(set(LOCATION.findall(misfits)))
    named = {file for file, _ in locations} | set(FILE.findall(misfits))
    return Outcome(title=title, reports=tuple(reports), files=tuple(sorted(named)), lines=len(locations))


def _run(module: str, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def main() -> None:
    """Try each change and print the table."""
    document = load_document(str(SPECIFICATION))
    outcomes: list[Outcome] = []
    parts = {
        "Seven realistic changes": SEVEN,
        "Changes that no tool reported once": ONCE_SILENT,
        "Further changes": FURTHER,
    }
    for title, changes in parts.items():
        print(f"\n{title}:\n\n| Change | Reported by | Files named | Hand-written lines |\n|---|---|---|---|")
        for change in changes:
            changed = copy.deepcopy(document)
            try:
                change(changed)
            except (KeyError, ValueError) as missing:
                raise SystemExit(
                    f"openapi.yaml no longer has {missing}: adapt {change.__name__} in {CHANGES}"
                ) from None
            outcomes.append(attempt((change.__doc__ or change.__name__).rstrip("."), changed))
            print(outcomes[-1].row, flush=True)
    silent = [outcome.title for outcome in outcomes if not outcome.reports]
    print(f"\n{len(outcomes)} changes, {len(silent)} silent")
    if silent:
        raise SystemExit("\n".join(silent))


if __name__ == "__main__":
    main()
