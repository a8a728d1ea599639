"""The distribution: built from the checkout by way of the sdist, looked through, and what it declares."""

import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from tools.release.clean_environment import normalized, run

PROJECT = Path(__file__).resolve().parents[2]
DIST = PROJECT / "dist"
PACKAGES = {
    "itwin_platform": PROJECT / "wrapper" / "itwin_platform",
    "itwin_platform_api": PROJECT / "generated" / "itwin_platform_api",
    "itwin_platform_sandbox": PROJECT / "sandbox" / "itwin_platform_sandbox",
}


def build() -> Path:
    """Build the sdist, and the wheel from it, into `dist/`; return the wheel.

    Raises:
        SystemExit: the build failed, or the wheel is not what it should be.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, PROJECT, silent=True)
    wheel = next(DIST.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        found = faults(archive.namelist())
    if found:
        raise SystemExit("\n".join([f"{wheel.name} is not what it should be:", *found]))
    return wheel


def faults(names: list[str]) -> list[str]:
    """Return what is missing in a wheel with these files, and what should not be there."""
    wanted = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    } | {f"{package}/py.typed" for package in PACKAGES}
    present = {name for name in names if ".dist-info/" not in name}
    strange = (present - wanted) | {name for name in present if re.search(r"(^|/)(tests?/|test_|conftest)", name)}
    return [f"missing: {name}" for name in sorted(wanted - present)] + [f"too much: {name}" for name in sorted(strange)]


def declared(*extras: str) -> list[str]:
    """Return the requirements that pyproject.toml declares for everybody, and those of extras."""
    project = _pyproject()["project"]
    return [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]


def lowest(requirements: list[str]) -> list[str]:
    """Return the same requirements, each at the lowest version that it allows.

    Raises:
        SystemExit: one has no lower bound.
    """
    found: list[str] = []
    for requirement in requirements:
        match = re.match(r"([\w.-]+).*?>=([\w.]+)", requirement)
        if match is None:
            raise SystemExit(f"{requirement} in pyproject.toml has no lower bound: what is the lowest that works?")
        found.append(f"{match[1]}=={match[2]}")
    return found


def development_tools() -> set[str]:
    """Return the names of the development group, normalized, without those that are also declared for users."""
    named = {_name(requirement) for requirement in _pyproject()["dependency-groups"]["development"]}
    return named - {_name(requirement) for requirement in declared()}


def _name(requirement: str) -> str:
    return normalized(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def _pyproject() -> dict[str, Any]:
    with (PROJECT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)
