"""Make changes to copies of `openapi.yaml`, regenerate, and show which tool reports each change.

Run as `python -m tools.generation.drill [WORDS]`; with words, only the changes whose title has them are tried. A change
that no tool reports is silent. One about which `make generate` says something else than it must say, a tool that ends
with a traceback, and a change of `generated/` although the document is rejected, are failures. It ends with status 1
after a failure.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.generation.document import PROJECT, SPECIFICATION
from tools.generation.drill_changes import Change, changes_of, made

FITS, MISFIT, REJECTED = "fits", "does not fit", "rejected"
LOCATION = re.compile(r"^(\S+?\.(?:py|yaml)):(\d+)", re.MULTILINE)
COUNT = re.compile(r"^(\w[\w ,]*): (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What generating and comparing say about one change."""

    change: Change
    verdict: str
    reports: tuple[str, ...]
    lines: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def row(self) -> str:
        """The change as a row of a table."""
        wrong = "".join(f" **{failure}**" for failure in self.failures)
        files = Counter(line.partition(":")[0] for line in self.lines)
        named = ", ".join(f"{file} ({count})" for file, count in files.items()) or "-"
        return f"| {self.change.words} | {self.verdict}{wrong} | {', '.join(self.reports) or '-'} | {named} |"


def attempt(change: Change) -> Outcome:
    """Generate from a changed document, and compare it with the committed one."""
    document = made(change)
    with tempfile.TemporaryDirectory() as folder:
        changed, target = Path(folder) / "changed.yaml", Path(folder) / "itwin_platform_api"
        changed.write_text(json.dumps(document, indent=1), encoding="utf-8")
        target.mkdir()
        generated = _run("tools.generation.generate", "--spec", str(changed), "--into", folder)
        compared = _run("tools.spec.diff", str(SPECIFICATION), str(changed))
        replaced = any(target.iterdir())
    verdict = REJECTED if generated.returncode else MISFIT if "does not fit" in generated.stdout else FITS
    said = generated.stderr if verdict == REJECTED else generated.stdout.partition("does not fit any more")[2]
    reports = tuple(f"{count} {name.lower()}" for name, count in COUNT.findall(compared.stdout) if count != "0")
    lines = tuple(f"{file}:{line}" for file, line in LOCATION.findall(said))
    wrong = {
        f"must be: {change.says}": verdict != change.says,
        "traceback": "Traceback" in generated.stderr + compared.stderr,
        "no file and line": verdict != FITS and not lines,
        "replaced although rejected": verdict == REJECTED and replaced,
        "silent": verdict == FITS and not reports,
    }
    failures = tuple(text for text, is_so in wrong.items() if is_so)
    return Outcome(change=change, verdict=verdict, reports=reports, lines=lines, failures=failures)


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def selected(words: str) -> Iterator[tuple[str, list[Change]]]:
    """Yield the changes whose title has some words, by the title of their table."""
    for title, changes in changes_of().items():
        if found := [change for change in changes if words.lower() in change.words.lower()]:
            yield title, found


def main() -> None:
    """Try each change, print the tables, and exit with status 1 after a failure."""
    words, started = " ".join(sys.argv[1:]), time.monotonic()
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for title, changes in selected(words):
            print(f"\n{title}:\n\n| Change | `make generate` | `make spec-diff` | Lines named |\n|---|---|---|---|")
            for outcome in pool.map(attempt, changes):
                outcomes.append(outcome)
                print(outcome.row, flush=True)
    failures = [f"{outcome.change.words}: {failure}" for outcome in outcomes for failure in outcome.failures]
    silent = sum("silent" in outcome.failures for outcome in outcomes)
    fits = sum(outcome.verdict == FITS and outcome.change.says != FITS for outcome in outcomes)
    print(f"\n{len(outcomes)} changes; silent: {silent}; fits without fitting: {fits}; failures: {len(failures)}")
    print(f"\n{time.monotonic() - started:.0f} s")
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
