"""Change the wrapper in many small ways, one at a time, and report the changes that no test notices: `make mutants`.

A seeded sample of each room is tried. For each change only the tests that reach its line run, the most specific first.
The table goes to the standard output, and every survivor with its line. `tools/mutation/accepted.txt` lists survivors
that no test needs to notice, each with its reason. Exits with status 1 if a room kills less than 95 %.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from coverage import CoverageData

from tools.mutation.mutants import Mutant, mutants_of

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper"
PACKAGE = WRAPPER / "itwin_platform"
ACCEPTED = Path(__file__).with_name("accepted.txt")
#: Which tests reach which line: measured once for a run.
COVERAGE = PROJECT / ".cache" / "mutants.coverage"
#: The share of mutants that must be killed in each room.
LEAST = 0.95
#: So many tests run at most for one mutant, and for so many seconds.
MOST_TESTS, SECONDS = 150, 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mutant of one module, and the tests that reach it."""

    module: Path
    mutant: Mutant
    tests: Sequence[str]

    @property
    def room(self) -> str:
        """The folder of the module."""
        folder = self.module.parent.relative_to(PACKAGE).as_posix()
        return "first level" if folder == "." else folder

    @property
    def name(self) -> str:
        """The change, in one line that holds until its code changes."""
        before, text = " ".join(self.mutant.before.split()), " ".join(self.mutant.text.split())
        return f"{self.module.relative_to(PACKAGE).as_posix()}: {before} -> {text}"


def main() -> None:
    """Run the sample and print the table."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--each", type=int, default=60, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument("--only", default="", help="a part of the path of the modules to change")
    parser.add_argument("--measured", action="store_true", help="do not measure again which test reaches which line")
    chosen = parser.parse_args()
    if not chosen.measured:
        measure_coverage()
    sample = list(sampled(candidates(only=chosen.only), each=chosen.each, seed=chosen.seed))
    accepted = {line.partition("  # ")[0] for line in ACCEPTED.read_text(encoding="utf-8").splitlines()}
    check_tests(sample[:10])
    ended = tried([each for each in sample if each.name not in accepted])
    raise SystemExit(report(ended, skipped=len(sample) - len(ended)))


def measure_coverage() -> None:
    """Run the tests once, and note which test reaches which line."""
    COVERAGE.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--ignore", "tests/slow", "--cov=itwin_platform"]
    options = ["--cov-branch", "--cov-context=test", "--cov-report=", "--cov-fail-under=0"]
    subprocess.run([*command, *options], cwd=PROJECT, env={**os.environ, "COVERAGE_FILE": str(COVERAGE)}, check=True)


def candidates(*, only: str) -> Iterator[Candidate]:
    """Yield every mutant with the tests that reach its line; without a test that does, those of its module."""
    reached = reached_lines()
    lines_of = Counter(test for by_line in reached.values() for tests in by_line.values() for test in tests)
    for module, by_line in reached.items():
        everything = set().union(*by_line.values())
        for mutant in mutants_of(module.read_text(encoding="utf-8")) if only in module.as_posix() else ():
            tests = by_line.get(mutant.line) or everything
            ranked = sorted(tests, key=lambda test: (lines_of[test], test))
            yield Candidate(module=module, mutant=mutant, tests=ranked[:MOST_TESTS])


def reached_lines() -> dict[Path, dict[int, set[str]]]:
    """Return the tests that reach each line of each module."""
    data = CoverageData(str(COVERAGE))
    data.read()
    return {
        module: {
            line: {context.rpartition("|")[0] for context in contexts if "|" in context}
            for line, contexts in data.contexts_by_lineno(str(module)).items()
        }
        for module in sorted(PACKAGE.rglob("*.py"))
    }


def sampled(found: Iterator[Candidate], *, each: int, seed: int) -> Iterator[Candidate]:
    """Yield the sample of each room."""
    rooms: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in found:
        rooms[candidate.room].append(candidate)
    chooser = random.Random(seed)  # noqa: S311  # a sample is no secret
    for room in sorted(rooms):
        yield from chooser.sample(rooms[room], min(each, len(rooms[room])))


def check_tests(sample: Sequence[Candidate]) -> None:
    """Exit if tests of the sample fail without any change: then every mutant would count as killed."""
    tests = {test for candidate in sample for test in candidate.tests}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *sorted(tests)]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)  # noqa: PLW1510  # reported below
    if ended.returncode:
        raise SystemExit(f"tests fail without a change:\n{ended.stdout[-2000:]}")


def tried(sample: Sequence[Candidate]) -> list[tuple[Candidate, str]]:
    """Try each mutant in a copy of the wrapper, as many at once as there are cores; return how each one ended."""
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number in range(os.cpu_count() or 1):
            copies.put(Path(shutil.copytree(WRAPPER, Path(folder) / str(number))))

        def run(candidate: Candidate) -> tuple[Candidate, str]:
            copied = copies.get()
            try:
                return candidate, outcome(candidate, copied)
            finally:
                copies.put(copied)

        ended = []
        for number, result in enumerate(pool.map(run, sample), 1):
            print(f"{number} of {len(sample)}: {result[1]}", file=sys.stderr)
            ended.append(result)
        return ended


def outcome(candidate: Candidate, copied: Path) -> str:
    """Return "killed" where a test fails, "hangs" where the tests do not end in time, else "survives"."""
    if not candidate.tests:
        return "survives"
    module = copied / candidate.module.relative_to(WRAPPER)
    source = module.read_bytes()
    module.write_bytes(candidate.mutant.applied_to(source))
    path = os.pathsep.join([str(copied), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *candidate.tests]
    try:
        ended = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, timeout=SECONDS)  # noqa: PLW1510  # a failure kills the mutant
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        module.write_bytes(source)
    return "killed" if ended.returncode else "survives"


def report(ended: Sequence[tuple[Candidate, str]], *, skipped: int) -> int:
    """Print the table and the survivors; return 1 if a room kills too few."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for candidate, how in ended:
        counts[candidate.room][how] += 1
    print(f"{'room':24}{'tried':>7}{'killed':>8}{'hangs':>7}{'survive':>9}{'share':>8}")
    too_few = 0
    for room, count in sorted(counts.items()):
        share = (count["killed"] + count["hangs"]) / count.total()
        too_few += share < LEAST
        print(f"{room:24}{count.total():>7}{count['killed']:>8}{count['hangs']:>7}{count['survives']:>9}{share:>8.0%}")
    print(f"{skipped} of the sample are in {ACCEPTED.name} with their reasons. Survivors and hanging tests:")
    for candidate, how in ended:
        if how != "killed":
            print(f"  {how}: {candidate.name}  (line {candidate.mutant.line}, {len(candidate.tests)} tests)")
    return int(too_few > 0)


if __name__ == "__main__":
    main()
