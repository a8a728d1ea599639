"""Mutants of the wrapper and the transport with the tests that can notice them, and a sample of each room."""

import ast
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tools.mutation.mutants import Mutant, mutants_of

PROJECT = Path(__file__).resolve().parents[2]
#: The packages that are changed, by the folders that they stand in.
PACKAGES = {
    "wrapper": PROJECT / "wrapper" / "itwin_platform",
    "transport": PROJECT / "transport" / "itwin_platform_transport",
}
#: Which tests reach which line.
COVERAGE = PROJECT / ".cache" / "mutants.coverage"
#: So many tests run at most for one mutant.
MOST_TESTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mutant of one module, the line of code that it changes, and the tests that reach it."""

    module: Path
    mutant: Mutant
    code: str
    tests: Sequence[str]

    @property
    def room(self) -> str:
        """The folder of the module: that of its package, and the one in it."""
        return self.path.rpartition("/")[0]

    @property
    def path(self) -> str:
        """The path of the module, without the folder that names its package."""
        outer, _, *inner = self.module.relative_to(PROJECT).parts
        return "/".join([outer, *inner])

    @property
    def name(self) -> str:
        """The change, in one line that holds until its code changes."""
        before, text = " ".join(self.mutant.before.split()), " ".join(self.mutant.text.split())
        where = "" if self.code.startswith(before) else f" in {self.code}"
        return f"{self.path}: {before} -> {text}{where}"


def measure_coverage() -> None:
    """Run the tests once, and note which test reaches which line."""
    COVERAGE.parent.mkdir(exist_ok=True)
    options = ("-q", "-n", "auto", "--ignore", "tests/slow", "--cov-branch", "--cov-context=test", "--cov-report=")
    packages = [f"--cov={package.name}" for package in PACKAGES.values()]
    command = [sys.executable, "-m", "pytest", *options, *packages, "--cov-fail-under=0"]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, "COVERAGE_FILE": str(COVERAGE)}, check=True)


def candidates() -> Iterator[Candidate]:
    """Yield every mutant with the tests that reach its line.

    A line that runs on import, or that no test is known to reach, gets all tests of its module, those first that reach
    most of it. A module that no test is known to reach gets all tests.
    """
    reached = reached_lines()
    lines_of = Counter(test for by_line in reached.values() for tests in by_line.values() for test in tests)
    for module, by_line in reached.items():
        source = module.read_text(encoding="utf-8")
        lines = source.splitlines()
        here = Counter(test for tests in by_line.values() for test in tests) or lines_of
        called = called_lines(source)
        ranked: dict[int, Sequence[str]] = {}
        for mutant in mutants_of(source):
            if mutant.line not in ranked:
                if mutant.line in called and (tests := by_line.get(mutant.line)):
                    order = sorted(tests, key=lambda test: (lines_of[test], test))
                else:
                    order = sorted(here, key=lambda test: (-here[test], test))
                ranked[mutant.line] = specific_and_different(order)
            code = lines[mutant.line - 1].strip()
            yield Candidate(module=module, mutant=mutant, code=code, tests=ranked[mutant.line][:MOST_TESTS])


def called_lines(source: str) -> set[int]:
    """Return the lines in bodies of functions: the others run on import, and count for the first test that imports."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {line for each in functions for line in range(each.body[0].lineno, (each.end_lineno or each.lineno) + 1)}


def specific_and_different(tests: Sequence[str]) -> Sequence[str]:
    """Return the tests in turn from their order, and from another one: a case of each function, then second cases."""
    cases: Counter[str] = Counter()
    ranks = list[tuple[int, str]]()
    for test in tests:
        function = test.partition("[")[0]
        ranks.append((cases[function], test))
        cases[function] += 1
    different = (test for _, test in sorted(ranks, key=lambda rank: rank[0]))
    return list(dict.fromkeys(test for pair in zip(tests, different, strict=True) for test in pair))


def reached_lines() -> Mapping[Path, Mapping[int, set[str]]]:
    """Return the tests that reach each line of each module."""
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
    """Yield a sample of each room, or of one room.

    Raises:
        SystemExit: there is no such room.
    """
    rooms: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in found:
        rooms[candidate.room].append(candidate)
    if only and only not in rooms:
        raise SystemExit(f"no such room: {only}; there are {', '.join(sorted(rooms))}")
    for room in [only] if only else sorted(rooms):
        chooser = random.Random(f"{seed} {room}")  # noqa: S311  # a sample is no secret
        yield from chooser.sample(rooms[room], min(each, len(rooms[room])))
