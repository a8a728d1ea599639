"""Runs the examples as their readers do."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.real_time import LONGEST

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def environment(**variables: str) -> dict[str, str]:
    """The environment without a platform, but for what is given."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ITWIN_PLATFORM_")} | variables


def command(name: str, *arguments: str) -> list[str]:
    """How an example is started; each warning is an error."""
    return [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]


def run(
    name: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder, and make sure that it ends as it should and complains of nothing."""
    ended = subprocess.run(  # noqa: S603  # our own example
        command(name, *arguments),
        cwd=folder,
        env=environment(**(variables or {})),
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "Warning" not in ended.stderr
    return ended
