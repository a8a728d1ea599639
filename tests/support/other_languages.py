"""The blocks of the page on the sandbox from other languages, and how their programs are run."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.real_time import LONGEST

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox-from-other-languages.md"
OTHER_LANGUAGES = PAGE.read_text(encoding="utf-8")


def block(heading: str, language: str) -> str:
    """Return the first block of a language under a heading of the page."""
    section = OTHER_LANGUAGES.partition(f"## {heading}\n")[2]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def run(*command: str, folder: Path) -> str:
    """Run a command that must succeed, with this Python as `python`, and return its output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(  # noqa: S603  # a program of the page
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
