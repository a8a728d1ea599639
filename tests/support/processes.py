"""Programs that run in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.real_time import LONGEST
from tools.programs.run import known

PROJECT = Path(__file__).resolve().parents[2]


def ended(
    *command: str | Path,
    folder: Path = PROJECT,
    variables: Mapping[str, str] | None = None,
    status: int | None = 0,
    umask: int = -1,
) -> subprocess.CompletedProcess[str]:
    """Run a program, with this Python as `python`, and check its exit status.

    The environment is the fixed one of a test run, without the changes of the current test.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.run(  # noqa: S603  # our own programs and tools
        [str(part) for part in command],
        cwd=folder,
        env=known(os.environ) | {"PATH": path} | dict(variables or {}),
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert status in (None, process.returncode), f"{command}\n{process.stdout}\n{process.stderr}"
    return process
