"""Run the project on every Python from 3.11 that this machine has: `make test-all-pythons`.

On each Python it runs `make demo` and all tests in a copy of the checkout. Then it tries the wheel with the lowest and
the newest dependencies: the lowest versions are the lower bounds of pyproject.toml, also of the extras, and the newest
are those that pip chooses. For each combination it installs, imports and uses the wheel, and runs the tests that need
nothing else of the checkout. It prints a table, names the supported Pythons that were not run, and exits with status 1
after a failure.

With the argument `commands` it runs `make demo` and `make test` alone, on every Python beside the one that runs it.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools.release.clean_environment import SUPPORTED, Environment, pythons, run
from tools.release.distribution import PROJECT, build, declared, lowest
from tools.release.package import trial

#: What `make` runs on each Python: the commands of the README, or all tests, which must reach every branch.
COMMANDS, ALL_TESTS = ("demo", "test"), ("demo", "coverage")
SHOWN = ("httpx", "httptools", "attrs", "python-dateutil")
EXTRAS = ("sandbox",)
#: What httpx decodes with if it is installed, and what a test of the engine imports.
DECODERS = ("brotli", "zstandard")
#: Tests of what users install; the other tests are about the checkout and its development tools.
TESTS_OF_THE_WHEEL = [
    *("tests/transport", "tests/wrapper", "tests/sandbox", "tests/generated/test_model_data.py"),
    *("tests/generated/test_model_values.py", "tests/generated/test_model_wire.py"),
]
OPTIONS = ("-q", "--no-header", "-p", "no:cacheprovider", "-n", "auto")


def main() -> None:
    """Try each Python, and print the table."""
    only_commands, found = sys.argv[1:] == ["commands"], pythons()
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for version, python in found.items():
            if only_commands and version == f"{sys.version_info.major}.{sys.version_info.minor}":
                continue
            copy = Path(folder) / f"checkout-{version}"
            subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(copy)], check=True)  # noqa: S607  # git of the PATH
            for target in COMMANDS if only_commands else ALL_TESTS:
                print(f"Python {version} at {python}: make {target}", flush=True)
                ended = subprocess.run(["make", target, f"PYTHON={python}"], cwd=copy, check=False)  # noqa: S607  # of the PATH
                rows.append(f"| {version} | make {target} | {'**failed**' if ended.returncode else 'passed'} |")
        if not only_commands:
            rows += wheel_rows(found, Path(folder))
    print("", "| Python | what | |", "|---|---|---|", *rows, sep="\n")
    missing = [version for version in SUPPORTED if version not in found]
    print(f"\nNot run here: {', '.join([*missing, 'free-threaded builds'])}")
    if any("**failed**" in row for row in rows):
        raise SystemExit(1)


def wheel_rows(found: Mapping[str, Path], folder: Path) -> list[str]:
    """Try the wheel with the lowest and the newest dependencies, and return a row for each combination."""
    wheel = build()
    constraints = folder / "lowest.txt"
    constraints.write_text("\n".join(lowest(declared(*EXTRAS))))
    rows: list[str] = []
    for version, python in found.items():
        for name, limits in (("lowest", constraints), ("newest", None)):
            print(f"Python {version} at {python}, the wheel with {name} dependencies", flush=True)
            environment = Environment(folder / f"{version}-{name}", python=python)
            outcome = _tried(wheel, environment, constraints=limits)
            rows.append(f"| {version} | wheel, {name} dependencies | {outcome} |")
    return rows


def _tried(wheel: Path, environment: Environment, *, constraints: Path | None) -> str:
    try:
        installed = trial(wheel, environment, constraints=constraints)
        environment.install("--group", f"{PROJECT / 'pyproject.toml'}:test", *DECODERS, constraints=constraints)
        run(environment.python, "-m", "pytest", *OPTIONS, *TESTS_OF_THE_WHEEL, folder=PROJECT)
    except SystemExit as failure:
        print(failure)
        return "**failed**"
    return f"passed with {', '.join(f'{name} {installed[name]}' for name in SHOWN)}"


if __name__ == "__main__":
    main()
