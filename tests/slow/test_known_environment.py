"""The developer's environment reaches neither tests nor examples, and they leave no process behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.real_time import LONGEST
from tools.programs.run import SET, TIMED_OUT, run

#: Variables of a developer behind a proxy, with a platform, and settings of Python and of pytest.
OF_A_DEVELOPER = {
    "ALL_PROXY": "socks5h://127.0.0.1:9",
    "ITWIN_PLATFORM_TOKEN": "made-up",
    "TZ": "Asia/Kathmandu",
    "PYTHONPATH": "/missing",
    "PYTEST_ADDOPTS": "--missing-option",
}
RUNNER = (sys.executable, "-I", str(PROJECT / "tools" / "programs" / "run.py"))
#: A program with a child that ignores SIGTERM and holds the output open.
WITH_A_CHILD = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
signal.signal(signal.SIGTERM, signal.SIG_DFL)
print("ready", flush=True)
"""


def test_the_runner_hides_the_environment() -> None:
    """Programs of the Makefile and tests have none of the developer's variables."""
    show = "import json, os; print(json.dumps({**os.environ}))"
    seen = json.loads(ended(*RUNNER, sys.executable, "-c", show, variables=OF_A_DEVELOPER).stdout)
    assert {name: seen.get(name) for name in OF_A_DEVELOPER} == dict.fromkeys(OF_A_DEVELOPER) | SET
    assert seen["PATH"]
    assert os.environ.keys() & (OF_A_DEVELOPER.keys() - SET.keys()) == set()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no process groups")
@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT], ids=["fails", "terminated", "interrupted"])
def test_nothing_keeps_running(number: signal.Signals | None) -> None:
    """No child process outlives a program that fails or a runner that a signal ends."""
    program = WITH_A_CHILD + ("sys.exit(3)" if number is None else "time.sleep(600)")
    inner = (sys.executable, "-c", program)
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from tools.programs.run import run; "
    code += f"sys.exit(run({inner!r}, grace=0.2))"
    command = [sys.executable, "-c", code]
    started = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603  # our own
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        if number is not None:
            started.send_signal(number)
        # The output ends when the last process that holds it has ended.
        assert started.communicate(timeout=LONGEST)[0] == b""
    assert started.returncode == {None: 3, signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGINT: -signal.SIGINT}[number]


def test_a_program_that_exceeds_its_time_is_ended(tmp_path: Path) -> None:
    """A program that exceeds its time is ended with a distinct status; another one keeps its status."""
    assert run([sys.executable, "-c", "import time; time.sleep(600)"], folder=tmp_path, seconds=0.1) == TIMED_OUT
    assert run([sys.executable, "-c", "raise SystemExit(7)"], folder=tmp_path, seconds=LONGEST) == 7
    assert run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], folder=tmp_path) == 137
