"""Run the project on every Python from 3.11 that this machine has: `make test-all-pythons`.

On each Python it runs `make demo` and all tests in a copy of the checkout. Then it tries the wheel with the lowest and
the newest dependencies: the lowest versions are the lower bounds of pyproject.toml, also of the extras, and pip chooses
the newest versions. For each combination it installs, imports and uses the wheel, and runs the tests that need nothing
else of the checkout. It prints a table, names the supported Pythons that were not run, and exits with status 1 after a
failure.

With the argument `commands` it runs `make demo` and `make test` alone, on every Python beside the one that runs it.
"""

import sys
import tempfile
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement

from tools.release.clean_environment import PROJECT, SUPPORTED, Environment, pythons, run
from tools.release.package import build, trial

#: The targets of `make` on each Python: the commands of the README, or all tests, which must reach every branch.
COMMANDS, ALL_TESTS = ("demo", "test"), ("demo", "coverage")
#: The optional decoders of httpx, which a test of the engine imports.
DECODERS = ("brotli", "zstandard")
#: The tests of installed packages; the other tests are about the checkout and its development tools.
TESTS_OF_THE_WHEEL = [
    *("tests/transport", "tests/wrapper", "tests/sandbox", "tests/generated/test_model_data.py"),
    *("tests/generated/test_model_values.py", "tests/generated/test_model_wire.py"),
]
OPTIONS = ("-q", "--no-header", "-p", "no:cacheprovider", "-n", "auto")


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


def try_checkout(python: Path, copy: Path, target: str) -> str:
    """Run a target of the Makefile with a Python, in a copy of the checkout."""
    if not copy.exists():
        run("git", "clone", "--quiet", PROJECT, copy)
    run("make", target, f"PYTHON={python}", folder=copy)
    return "passed"


def try_wheel(wheel: Path, python: Path, folder: Path, constraints: Path | None) -> str:
    """Use a wheel, run its tests, and return the result with the distributions that it installs."""
    environment = Environment(folder, python=python)
    installed = trial(wheel, environment, constraints=constraints)
    environment.install("--group", f"{PROJECT / 'pyproject.toml'}:test", *DECODERS, constraints=constraints)
    run(environment.python, "-m", "pytest", *OPTIONS, *TESTS_OF_THE_WHEEL, folder=PROJECT)
    return f"passed with {installed}"


def row(version: str, subject: str, attempt: Callable[[], str]) -> str:
    """Try a command or a wheel with a Python, and return the row of the table."""
    print(f"Python {version}: {subject}", flush=True)
    try:
        return f"| {version} | {subject} | {attempt()} |"
    except SystemExit as failure:
        print(failure)
        return f"| {version} | {subject} | **failed** |"


def main() -> None:
    """Try each Python, and print the table."""
    only_commands, found, rows = sys.argv[1:] == ["commands"], pythons(), list[str]()
    others = [version for version in found if version != f"{sys.version_info.major}.{sys.version_info.minor}"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for version in others if only_commands else found:
            for target in COMMANDS if only_commands else ALL_TESTS:
                attempt = partial(try_checkout, found[version], folder / version, target)
                rows.append(row(version, f"make {target}", attempt))
        if not only_commands:
            wheel, constraints = build(), folder / "lowest.txt"
            project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            constraints.write_text(
                "\n".join(lowest([*project["dependencies"], *project["optional-dependencies"]["sandbox"]]))
            )
            for version, python in found.items():
                for kind, limits in (("lowest", constraints), ("newest", None)):
                    attempt = partial(try_wheel, wheel, python, folder / f"{version}-{kind}", limits)
                    rows.append(row(version, f"wheel, {kind} dependencies", attempt))
    print("", "| Python | run | result |", "|---|---|---|", *rows, sep="\n")
    missing = [version for version in SUPPORTED if version not in found]
    print(f"\nNot run here: {', '.join([*missing, 'free-threaded builds'])}")
    if any("**failed**" in each for each in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
