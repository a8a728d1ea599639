"""The committed OpenAPI document, parsed once in a test run, and packages that are generated from changed copies."""

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
    """Return a YAML file of the repository as Python values. A test that changes them copies them first."""
    return load_document(str(file))


def specification() -> dict[str, Any]:
    """Return openapi.yaml as Python values. A test that changes them copies them first."""
    return parsed(Path(__file__).resolve().parents[2] / "openapi.yaml")


Document = dict[str, Any]
Change = Callable[[Document], None]


class Regenerated:
    """A changed copy of the specification, the package that is generated from it, and the output of the generator."""

    def __init__(self, change: Change, folder: Path) -> None:
        document = copy.deepcopy(specification())
        change(document)
        self.folder = folder
        self.file = folder / "changed.yaml"
        self.file.write_text(json.dumps(document), encoding="utf-8")
        command = ["-m", "tools.generation.generate", "--spec", str(self.file), "--into", str(folder)]
        self.output = self.run(*command).stdout

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run Python with this generated package, and check the exit status."""
        variables = {"PYTHONPATH": str(self.folder), "COVERAGE_PROCESS_START": ""}
        return ended("python", *arguments, variables=variables, status=status)
