"""Vendored copies of the client as it stands in this checkout, and a service to put them into."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.vendoring.vendor import vendor

PROJECT = Path(__file__).resolve().parents[2]


def vendored(
    destination: Path, name: str, *, project: Path = PROJECT, overwrite: bool = False, command: str = "make vendor"
) -> list[str]:
    """Copies the client of a checkout, this one where none is given."""
    return vendor(project=project, destination=destination, name=name, overwrite=overwrite, command=command)


def run_python(*arguments: str | Path, cwd: Path, python: Path = Path(sys.executable)) -> str:
    """Runs Python, where every warning is an error, and returns what it printed; a failure fails the test."""
    command = [str(python), "-W", "error", *map(str, arguments)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ITWIN_", "PYTHON"))}
    ended = subprocess.run(  # noqa: S603 - our own programs
        command, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example service with the client vendored into it; not to be changed."""
    folder = tmp_path_factory.mktemp("service") / "my_service"
    example = PROJECT / "examples" / "vendored_service"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("_vendor", ".venv", "__pycache__"))
    vendored(folder / "src" / "my_service" / "_vendor", "itwin")
    return folder


@pytest.fixture(scope="session")
def older_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of another version, which knows a detector type that this one does not know."""
    folder = tmp_path_factory.mktemp("older")
    for package in ("wrapper/itwin_platform", "generated/itwin_platform_api"):
        shutil.copytree(PROJECT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder / name)
    (folder / "wrapper/itwin_platform/_version.py").write_text('"""Older."""\n\n__version__ = "0.0.1"\n')
    types = folder / "generated/itwin_platform_api/models/detector_type.py"
    first = types.read_text().replace(
        "    PHOTO_OBJECT_DETECTOR =", '    OLD_DETECTOR = "OldDetector"\n    PHOTO_OBJECT_DETECTOR ='
    )
    assert "OLD_DETECTOR" in first
    types.write_text(first)
    return folder


def environment(folder: Path, distributions: Iterable[str]) -> Path:
    """The Python of a new environment that holds distributions, what those need, and nothing else.

    They are links to those of this environment, so that nothing is fetched.
    """
    run_python("-m", "venv", "--without-pip", folder, cwd=PROJECT)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in _with_what_they_need(distributions):
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return folder / "bin" / "python"


def _with_what_they_need(distributions: Iterable[str]) -> set[str]:
    waiting, found = list(distributions), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            requirements = map(Requirement, importlib.metadata.requires(name) or ())
            waiting += [r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found
