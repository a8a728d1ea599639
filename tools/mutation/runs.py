"""Run tests against mutated copies of both packages, in processes forked after the imports that no mutant changes."""

import importlib
import multiprocessing
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.mutation.candidates import PACKAGES, PROJECT, Candidate
from tools.programs.run import SET

#: Seconds after which a test, and a part of the tests of a mutant, counts as hanging.
SECONDS_OF_A_TEST, SECONDS = 30, 600
#: Ends of the first two of three parts of the tests: the first tests kill most mutants, and import fewer modules.
FIRST, NEXT = 12, 72
#: Modules that tests import, without those that import the wrapper. To import them takes longer than most tests.
PRELOADED = (
    *("asyncio", "attr", "httpcore", "httptools", "httpx", "hypothesis.stateful", "lark", "msgspec", "pytest"),
    *("redis.asyncio", "starlette.applications", "trustme", "uvicorn", "uvloop", "yaml"),
)
#: The file for the output of the tests, in the folder of a copy.
OUTPUT = "output.txt"
_FORK = multiprocessing.get_context("fork")
#: Exit codes: of pytest for a test that does not exist, and of a run that takes too long.
_NOT_FOUND, _TOO_SLOW = 4, 100


#: The result "killed", "hangs" or "survives", and the failed test or the last output.
Outcome = tuple[str, str]


def outcomes(sample: Sequence[Candidate], *, processes: int) -> Iterator[Outcome]:
    """Run the tests of each mutant in a copy of the packages, and yield the outcomes in the order of the sample."""
    for name in PRELOADED:
        importlib.import_module(name)
    with ProcessPoolExecutor(processes, mp_context=_FORK) as pool:
        yield from pool.map(_outcome, sample)


def _outcome(candidate: Candidate) -> Outcome:
    with TemporaryDirectory() as folder:
        copied, module = Path(folder), Path(folder) / candidate.module.relative_to(PROJECT)
        for outer, package in PACKAGES.items():
            shutil.copytree(package, copied / outer / package.name)
        module.write_bytes(candidate.mutant.applied_to(candidate.module.read_bytes()))
        process = _FORK.Process(target=_run, args=(candidate.tests, copied))
        process.start()
        process.join()
        if group := process.pid:
            with suppress(ProcessLookupError):  # kills programs of a test that hangs
                os.killpg(group, signal.SIGKILL)
        output = (copied / OUTPUT).read_text("utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", output, re.MULTILINE)
    hangs = process.exitcode == _TOO_SLOW or re.search(r"^Timeout \(", output, re.MULTILINE)
    how = "hangs" if hangs else "killed" if process.exitcode else "survives"
    return how, failed[1] if failed else output.strip()[-200:]


def _run(tests: Sequence[str], copied: Path) -> None:
    """Exit with status 0 if the tests pass against the copy."""
    os.setpgid(0, 0)
    output = os.open(copied / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    os.chdir(PROJECT)
    sys.dont_write_bytecode = True
    roots = [str(copied / outer) for outer in PACKAGES]
    sys.path[:0] = roots
    paths = [*roots, *filter(None, [os.environ.get("PYTHONPATH")])]
    # The tests keep these in the known environment that they enter.
    SET.update(PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1")
    for part in (tests[:FIRST], tests[FIRST:NEXT], tests[NEXT:]):
        code = _exit_code(part) if part else 0
        if code == _NOT_FOUND:
            # A mutant may change the ids of cases, so run all cases of each function.
            code = _exit_code(sorted({test.partition("[")[0] for test in part}))
        if code:
            raise SystemExit(code)


def _exit_code(tests: Sequence[str]) -> int:
    process = _FORK.Process(target=_run_pytest, args=(tests,))
    process.start()
    process.join(SECONDS)
    return _TOO_SLOW if process.exitcode is None else process.exitcode


def _run_pytest(tests: Sequence[str]) -> None:
    pytest = importlib.import_module("pytest")
    limit = f"-ofaulthandler_timeout={SECONDS_OF_A_TEST}"
    # Without rewritten assertions: pytest warns of modules that were imported before it could rewrite them.
    code = pytest.main(["-q", "-x", "-rfE", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", limit, *tests])
    sys.stdout.flush()
    os._exit(code)  # without waiting for threads that a test left running
