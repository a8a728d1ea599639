"""Virtual environments with only a wheel and its dependencies, and the Pythons to create them with."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14", "3.15")


def pythons() -> dict[str, Path]:
    """Return a Python of pyenv or of the PATH for each supported version that this machine has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, Path] = {}
    for version in SUPPORTED:
        of_path = shutil.which(f"python{version}")
        candidates = [*sorted(pyenv.glob(f"{version}.*/bin/python")), *([Path(of_path)] if of_path else [])]
        # A shim of pyenv exists even if its Python does not.
        working = (path for path in candidates if not subprocess.run([path, "-c", ""], check=False).returncode)
        if path := next(working, None):
            found[version] = path
    return found


class Environment:
    """A virtual environment without pip; the pip of this process installs into it."""

    def __init__(self, folder: Path, *, python: Path) -> None:
        run(python, "-m", "venv", "--without-pip", folder)
        self.python = folder / "bin" / "python"
        self._pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python)

    def install(self, *requirements: str | Path, constraints: Path | None = None) -> None:
        """Install requirements in the newest versions that the constraints allow."""
        limits = ("--constraint", constraints) if constraints is not None else ()
        run(*self._pip, "install", "--quiet", "--no-warn-script-location", *limits, *requirements)

    def installed(self) -> str:
        """Return the distributions with their versions, in one line."""
        return ", ".join(run(*self._pip, "list", "--format", "freeze", silent=True).split())

    def run(self, *arguments: str | Path) -> None:
        """Run its Python with warnings as errors, and without imports from the working directory."""
        run(self.python, "-P", "-W", "error", *arguments)


def run(*command: str | Path, silent: bool = False, folder: Path = Path(sys.prefix)) -> str:
    """Run a command, by default outside the checkout. If it is silent, return its output; otherwise print it.

    Raises:
        SystemExit: The command failed.
    """
    words = [str(part) for part in command]
    completed = subprocess.run(words, cwd=folder, text=True, check=False, stdout=subprocess.PIPE if silent else None)
    if completed.returncode != 0:
        raise SystemExit(f"failed with status {completed.returncode}: {' '.join(words)}")
    return completed.stdout or ""
