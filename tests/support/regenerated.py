"""A changed specification, and the client package generated from it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.real_time import LONGEST

PROJECT = Path(__file__).resolve().parents[2]

Document = dict[str, Any]
Change = Callable[[Document], None]


class Regenerated:
    """A changed specification, the package generated from it, and the generator's output."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "changed.yaml"
        self.file.write_text(json.dumps(document), encoding="utf-8")
        self.output = self.run(
            "-m", "tools.generation.generate", "--spec", str(self.file), "--into", str(folder)
        ).stdout

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run Python where the generated package is this one; another status than asked for fails the test."""
        ended = subprocess.run(  # noqa: S603 - our own tools, with what a test says
            [sys.executable, *arguments],
            cwd=PROJECT,
            env=os.environ | {"PYTHONPATH": str(self.folder), "COVERAGE_PROCESS_START": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
        assert ended.returncode == status, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        return ended
