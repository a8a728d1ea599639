"""Mutants of the wrapper and the transport with the tests that can notice them, and a sample of each room."""

import ast
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
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
#: So many tests run at most for one mutant: the first five cases of each function are fewer.
MOST_TESTS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mutant of one module, the line of code that it changes, and the tests that reach it."""

    module: Path
    mutant: Mutant
    code: str
    tests: Sequence[str]

    @property
    def path(self) -> str:
        """The path of the module, without the folder that names its package."""
        outer, _, *inner = self.module.relative_to(PROJECT).parts
        return "/".join([outer, *inner])

    @property
    def room(self) -> str:
        """The folder of the module: that of its package, and the one in it."""
        return self.path.rpartition("/")[0]

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
    """Yield every mutant with tests that can notice it.

    A line that runs on import, or that no test is known to reach, gets a case of each function, those first that reach
    most of its module, and then second cases. Another line gets the tests that reach it, the most specific first, in
    turn with a case of each function.
    """
    reached = reached_lines()
    lines_of = Counter(test for by_line in reached.values() for tests in by_line.values() for test in tests)
    functions = groupby(sorted(lines_of), key=lambda test: test.partition("[")[0])
    case = {test: number for _, tests in functions for number, test in enumerate(tests)}
    for module, by_line in reached.items():
        source = module.read_text(encoding="utf-8")
        lines, called = source.splitlines(), called_lines(source)
        here = Counter(test for tests in by_line.values() for test in tests)
        of_all = sorted(lines_of, key=lambda test: (case[test], -here[test], test))[:MOST_TESTS]
        ranked: dict[int, Sequence[str]] = {}
        for mutant in mutants_of(source):
            if mutant.line not in ranked:
                tests = by_line.get(mutant.line, ()) if mutant.line in called else ()
                specific = sorted(tests, key=lambda test: (lines_of[test], test))
                in_turn = chain(*zip(specific, sorted(specific, key=case.__getitem__), strict=True))
                ranked[mutant.line] = list(dict.fromkeys(in_turn))[:MOST_TESTS] or of_all
            code = lines[mutant.line - 1].strip()
            yield Candidate(module=module, mutant=mutant, code=code, tests=ranked[mutant.line])


def called_lines(source: str) -> set[int]:
    """Return the lines in bodies of functions: the others run on import, and count for the first test that imports."""
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {line for each in functions for line in range(each.body[0].lineno, (each.end_lineno or each.lineno) + 1)}


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
