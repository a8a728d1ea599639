"""Make changes to a copy of `openapi.yaml`, regenerate, and show what pointed each of them out.

Run as `python -m tools.generation.drill`. A change that nothing points out is silent, and ends the drill with status 1.
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

PLACE = re.compile(r"\b([\w/]+\.py):(\d+)")
CHANGES = "tools/generation/drill_changes.py or drill_further_changes.py"
FILE = re.compile(r"\b(?:tools|wrapper|sandbox|api|models|_\w+)/[\w/]+\.py\b|\b_api\.py\b|templates/\S+\.jinja")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What generating and comparing said of one change."""

    title: str
    pointers: tuple[str, ...]
    files: tuple[str, ...]
    lines: int

    @property
    def row(self) -> str:
        """The change as a row of a table."""
        pointers = ", ".join(self.pointers) or "**silent**"
        return f"| {self.title} | {pointers} | {', '.join(self.files) or '-'} | {self.lines} |"


def tried(title: str, document: object) -> Outcome:
    """Generate from a changed document, and compare it with the committed one."""
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "changed.yaml"
        changed.write_text(json.dumps(document), encoding="utf-8")
        into = ("--spec", str(changed), "--into", folder)
        generated = _run("tools.generation.generate", *into)
        compared = _run("tools.spec.diff", str(SPECIFICATION), str(changed), path=folder)
    if broken := next((ended.stderr for ended in (generated, compared) if "Traceback" in ended.stderr), ""):
        raise SystemExit(f"{title}: a tool ends with a traceback\n{broken}")
    pointers: list[str] = []
    if generated.returncode:
        pointers.append("make generate rejects it")
    if "does not fit any more" in generated.stdout:
        pointers.append("make generate names what does not fit")
    if "Generated, not wrapped" in generated.stdout:
        pointers.append("make generate prints the call")
    counts = {name: int(count) for name, count in re.findall(r"^(\w[\w ,]*): (\d+)$", compared.stdout, re.MULTILINE)}
    pointers += [f"spec-diff: {count} {name.lower()}" for name, count in counts.items() if count]
    if compared.returncode not in (0, 1):
        pointers.append("spec-diff cannot read it")
    misfits = generated.stdout.partition("does not fit any more")[2] + generated.stderr
    places = sorted(set(PLACE.findall(misfits)))
    named = {file for file, _ in places} | set(FILE.findall(misfits))
    return Outcome(title=title, pointers=tuple(pointers), files=tuple(sorted(named)), lines=len(places))


def _run(module: str, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def main() -> None:
    """Try each change and print the table."""
    document = load_document(str(SPECIFICATION))
    outcomes: list[Outcome] = []
    parts = {"Seven realistic changes": SEVEN, "Changes that were silent once": ONCE_SILENT, "Further changes": FURTHER}
    for title, changes in parts.items():
        print(f"\n{title}:\n\n| Change | What pointed it out | Files named | Hand-written lines |\n|---|---|---|---|")
        for change in changes:
            changed = copy.deepcopy(document)
            try:
                change(changed)
            except (KeyError, ValueError) as gone:
                raise SystemExit(f"openapi.yaml no longer has {gone}: adapt {change.__name__} in {CHANGES}") from None
            outcomes.append(tried((change.__doc__ or change.__name__).rstrip("."), changed))
            print(outcomes[-1].row, flush=True)
    silent = [outcome.title for outcome in outcomes if not outcome.pointers]
    print(f"\n{len(outcomes)} changes, {len(silent)} silent")
    if silent:
        raise SystemExit("\n".join(silent))


if __name__ == "__main__":
    main()
