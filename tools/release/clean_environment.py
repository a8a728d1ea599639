"""Virtual environments with only a wheel and its dependencies, and the Pythons to create them with."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

OLDEST = (3, 11)
_VERSION_AND_PREFIX = "import sys; print(*sys.version_info[:3], sys.base_prefix)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """An interpreter of this machine."""

    path: Path
    version: tuple[int, int, int]
    prefix: str

    @property
    def minor(self) -> str:
        """Its version without the last number."""
        return f"{self.version[0]}.{self.version[1]}"

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def pythons() -> list[Python]:
    """Return every Python from 3.11 on the PATH and of pyenv, each installation once, oldest first."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [*sorted(pyenv.glob("*/bin/python"))]
    candidates += [path for folder in folders for path in sorted(folder.glob("python3*")) if _is_python(path)]
    found: dict[str, Python] = {}
    for path in candidates:
        completed = subprocess.run([str(path), "-c", _VERSION_AND_PREFIX], capture_output=True, text=True, check=False)
        if completed.returncode == 0:
            major, minor, patch, prefix = completed.stdout.strip().split(" ", 3)
            version = (int(major), int(minor), int(patch))
            found.setdefault(prefix, Python(path=path, version=version, prefix=prefix))
    return sorted((python for python in found.values() if python.version >= OLDEST), key=lambda python: python.version)


class Environment:
    """A virtual environment without pip; the pip of this process installs into it."""

    def __init__(self, folder: Path, *, python: Path) -> None:
        run(python, "-m", "venv", "--without-pip", folder)
        self.python = folder / "bin" / "python"

    def install(self, *requirements: str | Path, constraints: Path | None = None) -> None:
        """Install requirements in the newest versions that the constraints allow."""
        limits = ("--constraint", constraints) if constraints is not None else ()
        run(*self._pip, "install", "--quiet", "--no-warn-script-location", *limits, *requirements)

    def installed(self) -> dict[str, str]:
        """Return the version of each distribution by its canonical name."""
        listed = run(*self._pip, "list", "--format", "freeze", silent=True)
        return {
            canonicalize_name(name): version for name, version in (line.split("==") for line in listed.splitlines())
        }

    def run(self, *arguments: str | Path) -> None:
        """Run its Python with warnings as errors, and without imports from the working directory."""
        run(self.python, "-P", "-W", "error", *arguments)

    def run_tests(self, project: Path, folders: list[str]) -> None:
        """Run tests of a checkout with the installed packages."""
        options = ("-q", "--no-header", "-p", "no:cacheprovider", "-n", "auto")
        run(self.python, "-m", "pytest", *options, *(project / "tests" / folder for folder in folders), folder=project)

    @property
    def _pip(self) -> tuple[str | Path, ...]:
        return (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python)


def run(*command: str | Path, silent: bool = False, folder: Path = Path(sys.prefix)) -> str:
    """Run a command, by default outside the checkout, and return its output if it is silent.

    Raises:
        SystemExit: The command failed.
    """
    words = [str(part) for part in command]
    completed = subprocess.run(words, cwd=folder, text=True, check=False, stdout=subprocess.PIPE if silent else None)
    if completed.returncode != 0:
        raise SystemExit(f"failed with status {completed.returncode}: {' '.join(words)}")
    return completed.stdout or ""


def _is_python(path: Path) -> bool:
    return re.fullmatch(r"python3(\.\d+)?", path.name) is not None and os.access(path, os.X_OK)
