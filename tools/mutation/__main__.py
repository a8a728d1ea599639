"""Run mutation tests of the wrapper and the transport: `make mutants`.

Each mutant is one small change. The date is the seed of the sample of mutants from each folder, so that the sample
changes every day. Only the tests that reach the statement of a mutant run, in a copy of both packages, the most
specific first. The report lists the score of each folder and the surviving mutants. The exit status is 1 if the tests
of a folder kill less than 95 % of its mutants.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from coverage import CoverageData

from tools.mutation.mutants import Mutant, mutants_of
from tools.programs.run import run

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = (PROJECT / "wrapper" / "itwin_platform", PROJECT / "transport" / "itwin_platform_transport")
#: The coverage data with the tests of each line.
COVERAGE = PROJECT / ".cache" / "mutants.coverage"
#: The lowest accepted share of killed mutants in each folder.
LEAST = 0.95
#: The timeout of the tests of one mutant, in seconds, after which they count as failed. Nearly all end much sooner.
SECONDS = 1_800
#: Runs tests against the packages in a folder, also in the processes that tests start.
PROGRAM = """
import os, sys
folder, *options = sys.argv[1:]
roots = [os.path.join(folder, name) for name in ("wrapper", "transport")]
sys.path[:0] = [os.getcwd(), *roots]
sys.dont_write_bytecode = True
from tools.programs.run import SET
SET.update(PYTHONPATH=os.pathsep.join(roots), PYTHONDONTWRITEBYTECODE="1")
sys.stdout = sys.stderr = open(os.path.join(folder, "output.txt"), "w")
import pytest
sys.exit(pytest.main(options))
"""
OPTIONS = ("-q", "-x", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-ofaulthandler_timeout=30")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mutant of a module, and the test functions that reach its line."""

    module: Path
    mutant: Mutant
    tests: Sequence[str]

    @property
    def folder(self) -> str:
        """The folder of the module without that of its package, such as `transport/gates`."""
        outer, _, *inner = self.module.parent.relative_to(PROJECT).parts
        return "/".join([outer, *inner])

    @property
    def name(self) -> str:
        """The mutant in one line."""
        before, text = " ".join(self.mutant.before.split()), " ".join(self.mutant.text.split())
        return f"{self.module.relative_to(PROJECT)}:{self.mutant.line}: {before} -> {text}"


def measure_coverage() -> None:
    """Run the tests once, and record which test reaches which line."""
    COVERAGE.parent.mkdir(exist_ok=True)
    options = ("-q", "-n", "auto", "--ignore=tests/slow", "--ignore=tests/tools", "--cov-branch", "--cov-context=test")
    packages = [f"--cov={package.name}" for package in PACKAGES]
    command = [sys.executable, "-m", "pytest", *options, *packages, "--cov-report=", "--cov-fail-under=0"]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, "COVERAGE_FILE": str(COVERAGE)}, check=True)


def candidates() -> Iterator[Candidate]:
    """Yield every mutant with the tests that reach its statement, the tests that reach the fewest lines first.

    Coverage counts a line outside of functions for the first test that imports the module, and one of a cached function
    for the first test that calls it. A mutant of such a line gets all tests that reach the module, those that reach
    most of its lines first.
    """
    data = CoverageData(str(COVERAGE))
    data.read()
    modules = [module for package in PACKAGES for module in sorted(package.rglob("*.py"))]
    reached = {
        module: {
            line: {context.partition("|")[0].partition("[")[0] for context in contexts if context}
            for line, contexts in data.contexts_by_lineno(str(module)).items()
        }
        for module in modules
    }
    lines_of = Counter(test for by_line in reached.values() for tests in by_line.values() for test in tests)
    for module, by_line in reached.items():
        here = Counter(test for tests in by_line.values() for test in tests)
        of_module = sorted(here, key=lambda test: (-here[test], test))
        source = module.read_text(encoding="utf-8")
        statements = statements_in_functions(source)
        for mutant in mutants_of(source):
            tests = {test for line in statements.get(mutant.line, ()) for test in by_line.get(line, ())}
            specific = sorted(tests, key=lambda test: (lines_of[test], test))
            yield Candidate(module=module, mutant=mutant, tests=specific or of_module)


def statements_in_functions(source: str) -> dict[int, range]:
    """Return for each line in a function the lines of its statement; for a default value, those of its function."""
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    uncached = [each for each in functions if not any("cache" in ast.unparse(by) for by in each.decorator_list)]
    inside = [node for each in uncached for node in ast.walk(each) if isinstance(node, ast.stmt)]
    statements = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in inside]
    return {line: statement for statement in statements for line in statement}


def sampled(*, each: int, seed: str, only: str) -> list[Candidate]:
    """Return a sample of each folder, or of one folder.

    Raises:
        SystemExit: The folder does not exist.
    """
    folders: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates():
        folders[candidate.folder].append(candidate)
    if only and only not in folders:
        raise SystemExit(f"no such folder: {only}; there are {', '.join(sorted(folders))}")
    chosen: list[Candidate] = []
    for folder in [only] if only else sorted(folders):
        chooser = random.Random(f"{seed} {folder}")  # noqa: S311  # a sample is no secret
        chosen += chooser.sample(folders[folder], min(each, len(folders[folder])))
    return chosen


def survives(candidate: Candidate) -> bool:
    """Run the tests of a mutant in a copy of the packages, and return whether they pass."""
    with TemporaryDirectory() as folder:
        for package in PACKAGES:
            shutil.copytree(package, Path(folder) / package.relative_to(PROJECT))
        mutated = candidate.mutant.applied_to(candidate.module.read_bytes())
        (Path(folder) / candidate.module.relative_to(PROJECT)).write_bytes(mutated)
        command = [sys.executable, "-c", PROGRAM, folder, *OPTIONS, *candidate.tests]
        return run(command, folder=PROJECT, seconds=SECONDS) == 0


def main() -> None:
    """Run the sample and print the table."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--each", type=int, default=60, help="mutants of each folder")
    parser.add_argument("--seed", default=datetime.now(UTC).date().isoformat(), help="seed of the sample")
    parser.add_argument("--only", default="", help="one folder, such as transport/gates")
    chosen = parser.parse_args()
    measure_coverage()
    sample = sampled(each=chosen.each, seed=chosen.seed, only=chosen.only)
    first = sorted({test for each in sample for test in each.tests[:5]})
    unchanged = Mutant(line=1, start=0, end=0, before="", text="")
    if not survives(replace(sample[0], mutant=unchanged, tests=first)):
        raise SystemExit("tests fail without a change: run them with `make test`")
    survivors: list[Candidate] = []
    with ProcessPoolExecutor() as pool:
        for number, (candidate, is_left) in enumerate(zip(sample, pool.map(survives, sample), strict=True), start=1):
            survivors += [candidate] * is_left
            print(f"{number} of {len(sample)}: {'survives' if is_left else 'killed'}", file=sys.stderr, flush=True)
    raise SystemExit(report(sample, survivors, seed=chosen.seed))


def report(sample: Sequence[Candidate], survivors: Sequence[Candidate], *, seed: str) -> int:
    """Print the table and the survivors; return 1 if the score of a folder is too low."""
    tried, left = (Counter(each.folder for each in some) for some in (sample, survivors))
    print(f"{'folder':24}{'tried':>7}{'survive':>9}{'killed':>8}")
    for folder, count in sorted(tried.items()):
        print(f"{folder:24}{count:>7}{left[folder]:>9}{1 - left[folder] / count:>8.0%}")
    print(f"The sample is that of {seed}. Survivors:")
    for each in survivors:
        print(f"  {each.name}  ({len(each.tests)} tests)")
    return int(any(1 - left[folder] / count < LEAST for folder, count in tried.items()))


if __name__ == "__main__":
    main()
