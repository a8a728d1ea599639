"""Vendored copies of the client as it stands in this checkout, and environments to run them in."""

import importlib.metadata
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.processes import PROJECT, ended
from tools.vendoring.vendor import vendor


def vendored(
    destination: Path,
    name: str,
    *,
    project: Path = PROJECT,
    overwrite: bool = False,
    command: str = "make vendor",
    without: tuple[str, ...] | None = None,
) -> list[str]:
    """Copy the client of a checkout, this one where none is given."""
    return vendor(
        project=project, destination=destination, name=name, overwrite=overwrite, command=command, without=without
    )


def run_python(*arguments: str | Path, cwd: Path, python: Path = Path(sys.executable)) -> str:
    """Run Python, where every warning is an error, and return what it printed; a failure fails the test."""
    clean = dict.fromkeys((name for name in os.environ if name.startswith("PYTHON")), "")
    return ended(python, "-W", "error", *arguments, folder=cwd, variables=clean).stdout


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
