"""Runs the examples as their readers do."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes import PROJECT, ended

EXAMPLES = PROJECT / "examples"


def run(
    name: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder, where each warning is an error; it ends as it should and complains of nothing."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    process = ended(*command, folder=folder, variables=variables, status=code)
    assert "Traceback" not in process.stdout + process.stderr
    assert "Warning" not in process.stderr
    return process
