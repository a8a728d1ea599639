"""Build the distribution from the checkout, check its files, and read its requirements."""

import shutil
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release.clean_environment import run

PROJECT = Path(__file__).resolve().parents[2]
DIST = PROJECT / "dist"
PACKAGES = {
    "itwin_platform": PROJECT / "wrapper" / "itwin_platform",
    "itwin_platform_transport": PROJECT / "transport" / "itwin_platform_transport",
    "itwin_platform_api": PROJECT / "generated" / "itwin_platform_api",
    "itwin_platform_sandbox": PROJECT / "sandbox" / "itwin_platform_sandbox",
}


def build() -> Path:
    """Build the sdist, and the wheel from it, into `dist/`; return the wheel.

    Raises:
        SystemExit: The build failed, or the wheel has missing or surplus files.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    # With the build backend of this environment, whose hash was checked when it was installed.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, PROJECT, silent=True)
    wheel = next(DIST.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        if found := faults(archive.namelist()):
            raise SystemExit("\n".join([f"{wheel.name} has the wrong files:", *found]))
    return wheel


def faults(names: list[str]) -> list[str]:
    """Return a line for each missing and each surplus file of a wheel with these files."""
    expected = {file for package, folder in PACKAGES.items() for file in files_of(package, folder)}
    present = {name for name in names if ".dist-info/" not in name}
    missing = [f"missing: {name}" for name in sorted(expected - present)]
    return missing + [f"surplus: {name}" for name in sorted(present - expected)]


def files_of(package: str, folder: Path) -> set[str]:
    """Return the files that a wheel has of a package."""
    files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {f"{package}/{path.relative_to(folder).as_posix()}" for path in files} | {f"{package}/py.typed"}


def declared(*extras: str) -> list[str]:
    """Return the requirements of pyproject.toml for every user, and those of extras."""
    project = _pyproject()["project"]
    return [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]


def lowest(requirements: list[str]) -> list[str]:
    """Return the same requirements, each pinned to the lowest version that it allows.

    Raises:
        SystemExit: A requirement has no lower bound.
    """
    pins: list[str] = []
    for requirement in map(Requirement, requirements):
        bounds = [specifier.version for specifier in requirement.specifier if specifier.operator == ">="]
        if not bounds:
            raise SystemExit(f"{requirement} in pyproject.toml has no lower bound: add the lowest version that works")
        pins.append(f"{requirement.name}=={bounds[0]}")
    return pins


def development_tools() -> set[str]:
    """Return the canonical names in the groups for development, without those that are also declared for users."""
    return _names(chain(*_pyproject()["dependency-groups"].values())) - _names(declared())


def _names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def _pyproject() -> dict[str, Any]:
    with (PROJECT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)
