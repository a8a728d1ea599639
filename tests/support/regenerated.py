"""A changed specification, and the client package generated from it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.processes import ended

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
        variables = {"PYTHONPATH": str(self.folder), "COVERAGE_PROCESS_START": ""}
        return ended("python", *arguments, variables=variables, status=status)
