"""Find the mutants of the wrapper and the transport with the tests that reach them, and draw a sample."""

import ast
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from coverage import CoverageData

from tools.mutation.mutants import Mutant, mutants_of

PROJECT = Path(__file__).resolve().parents[2]
#: The packages to mutate, by their folders.
PACKAGES = {
    "wrapper": PROJECT / "wrapper" / "itwin_platform",
    "transport": PROJECT / "transport" / "itwin_platform_transport",
}
#: The coverage data with the tests of each line.
COVERAGE = PROJECT / ".cache" / "mutants.coverage"
#: Maximum number of tests for one mutant, more than the first five cases of each function.
MOST_TESTS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mutant of a module, and the tests that reach its line."""

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
    options = ("-q", "-n", "auto", "--ignore", "tests/slow", "--cov-branch", "--cov-context=test", "--cov-report=")
    packages = [f"--cov={package.name}" for package in PACKAGES.values()]
    command = [sys.executable, "-m", "pytest", *options, *packages, "--cov-fail-under=0"]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, "COVERAGE_FILE": str(COVERAGE)}, check=True)


def candidates() -> Iterator[Candidate]:
    """Yield every mutant with the tests that reach its line.

    The first case of each test function comes before the second cases. Among them, tests that reach few lines come
    first. If a line runs on import, or no test reaches it, the mutant gets all tests, first those that reach most lines
    of its module.
    """
    reached = reached_lines()
    lines_of = Counter(test for by_line in reached.values() for tests in by_line.values() for test in tests)
    functions = groupby(sorted(lines_of), key=lambda test: test.partition("[")[0])
    case = {test: number for _, tests in functions for number, test in enumerate(tests)}
    for module, by_line in reached.items():
        source = module.read_text(encoding="utf-8")
        called = called_lines(source)
        here = Counter(test for tests in by_line.values() for test in tests)
        of_all = sorted(lines_of, key=lambda test: (case[test], -here[test], test))[:MOST_TESTS]
        ranked: dict[int, Sequence[str]] = {}
        for mutant in mutants_of(source):
            if mutant.line not in ranked:
                tests = by_line.get(mutant.line, ()) if mutant.line in called else ()
                specific = sorted(tests, key=lambda test: (case[test], lines_of[test], test))
                ranked[mutant.line] = specific[:MOST_TESTS] or of_all
            yield Candidate(module=module, mutant=mutant, tests=ranked[mutant.line])


def called_lines(source: str) -> set[int]:
    """Return the lines in functions; coverage counts the other lines for the first test that imports the module."""
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {line for each in functions for line in range(each.body[0].lineno, (each.end_lineno or each.lineno) + 1)}


def reached_lines() -> Mapping[Path, Mapping[int, set[str]]]:
    """Return the tests of each line of each module."""
    data = CoverageData(str(COVERAGE))
    data.read()
    return {
        module: {
            line: {context.rpartition("|")[0] for context in contexts if "|" in context}
            for line, contexts in data.contexts_by_lineno(str(module)).items()
        }
        for package in PACKAGES.values()
        for module in sorted(package.rglob("*.py"))
    }


def sampled(found: Iterable[Candidate], *, each: int, seed: str, only: str) -> Iterator[Candidate]:
    """Yield a sample of each folder, or of one folder.

    Raises:
        SystemExit: The folder does not exist.
    """
    folders: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in found:
        folders[candidate.folder].append(candidate)
    if only and only not in folders:
        raise SystemExit(f"no such folder: {only}; there are {', '.join(sorted(folders))}")
    for folder in [only] if only else sorted(folders):
        chooser = random.Random(f"{seed} {folder}")  # noqa: S311  # a sample is no secret
        yield from chooser.sample(folders[folder], min(each, len(folders[folder])))
