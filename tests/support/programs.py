"""Runs the examples as their readers do."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes import PROJECT, ended

EXAMPLES = PROJECT / "examples"


def command(name: str, *arguments: str) -> list[str]:
    """How an example is started; each warning is an error."""
    return [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]


def run(
    name: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder, and make sure that it ends as it should and complains of nothing."""
    process = ended(*command(name, *arguments), folder=folder, variables=variables, status=code)
    assert "Traceback" not in process.stdout + process.stderr
    assert "Warning" not in process.stderr
    return process
