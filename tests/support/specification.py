"""The committed OpenAPI document, which one run parses once, and the package generated from a changed copy."""

import copy
import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.processes import ended
from tools.generation.document import load_document


@cache
def parsed(file: Path) -> dict[str, Any]:
    """Return a YAML file of the repository as Python values; to be copied, not changed."""
    return load_document(str(file))


def specification() -> dict[str, Any]:
    """Return openapi.yaml as Python values; to be copied, not changed."""
    return parsed(Path(__file__).resolve().parents[2] / "openapi.yaml")


Document = dict[str, Any]
Change = Callable[[Document], None]


class Regenerated:
    """A changed copy of the specification, the package generated from it in a folder, and the generator's output."""

    def __init__(self, change: Change, folder: Path) -> None:
        document = copy.deepcopy(specification())
        change(document)
        self.folder = folder
        self.file = folder / "changed.yaml"
        self.file.write_text(json.dumps(document), encoding="utf-8")
        command = ["-m", "tools.generation.generate", "--spec", str(self.file), "--into", str(folder)]
        self.output = self.run(*command).stdout

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run Python where the generated package is this one; another status than asked for fails the test."""
        variables = {"PYTHONPATH": str(self.folder), "COVERAGE_PROCESS_START": ""}
        return ended("python", *arguments, variables=variables, status=status)
