"""Copies of the specification that a test changes, and the client package generated from them."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]

Document = dict[str, Any]
Change = Callable[[Document], None]


@pytest.fixture(scope="session")
def specification() -> Document:
    """The committed specification; to be copied, not changed."""
    loaded: Document = yaml.safe_load((PROJECT / "openapi.yaml").read_text(encoding="utf-8"))
    return loaded


class Regenerated:
    """A changed specification, the package generated from it, and what generating it told."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "changed.yaml"
        self.file.write_text(json.dumps(document), encoding="utf-8")
        self.told = self.run("-m", "tools.generation.generate", "--spec", str(self.file), "--into", str(folder)).stdout

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Runs Python where the generated package is this one; another status than asked for fails the test."""
        ended = subprocess.run(  # noqa: S603 - our own tools, with what a test says
            [sys.executable, *arguments],
            cwd=PROJECT,
            env=os.environ | {"PYTHONPATH": str(self.folder), "COVERAGE_PROCESS_START": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == status, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        return ended


@pytest.fixture(scope="session")
def regenerated(specification: Document, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Change], Regenerated]:
    """Changes a copy of the specification and generates from it, in a folder of its own."""

    def make(change: Change) -> Regenerated:
        document = copy.deepcopy(specification)
        change(document)
        return Regenerated(document, tmp_path_factory.mktemp("regenerated"))

    return make
