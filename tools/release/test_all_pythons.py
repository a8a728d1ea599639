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
from pathlib import Path

from tools.release.clean_environment import Environment, Python, pythons
from tools.release.distribution import PROJECT, build, declared, group, lowest
from tools.release.package import trial

SUPPORTED = ("3.11", "3.12", "3.13", "3.14", "3.15")
#: What `make` runs on each Python: the commands of the README, or all tests, which must reach every branch.
COMMANDS, ALL_TESTS = ("demo", "test"), ("demo", "coverage")
SHOWN = ("httpx", "httptools", "attrs", "python-dateutil")
EXTRAS = ("sandbox",)
#: What httpx decodes with if it is installed, and what a test of the engine imports.
DECODERS = ("brotli", "zstandard")
#: Tests of what users install; the other tests are about the checkout and its development tools.
TESTS_OF_THE_WHEEL = [
    *("transport", "wrapper", "sandbox"),
    *("generated/test_model_data.py", "generated/test_model_values.py", "generated/test_model_wire.py"),
]


def main() -> None:
    """Try each Python, and print the table."""
    only_commands = sys.argv[1:] == ["commands"]
    found = [each for each in pythons() if not (only_commands and each.prefix == sys.base_prefix)]
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for python in found:
            copy = Path(folder) / f"checkout-{python}"
            subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(copy)], check=True)  # noqa: S607  # git of the PATH
            for target in COMMANDS if only_commands else ALL_TESTS:
                print(f"Python {python} at {python.path}: make {target}", flush=True)
                rows.append(f"| {python} | make {target} | {made(target, python, copy)} |")
        if not only_commands:
            rows += wheel_rows(found, Path(folder))
    print("", "| Python | what | |", "|---|---|---|", *rows, sep="\n")
    missing = [name for name in SUPPORTED if name not in {each.minor for each in found}]
    print(f"\nNot run here: {', '.join([*missing, 'free-threaded builds'])}")
    if any("**failed**" in row for row in rows):
        raise SystemExit(1)


def made(target: str, python: Python, checkout: Path) -> str:
    """Run a target of the Makefile in a checkout of its own, and return what came of it."""
    command = ["make", target, f"PYTHON={python.path}"]
    return "passed" if subprocess.run(command, cwd=checkout, check=False).returncode == 0 else "**failed**"


def wheel_rows(found: list[Python], folder: Path) -> list[str]:
    """Try the wheel with the lowest and the newest dependencies, and return a row for each combination."""
    wheel = build()
    constraints = folder / "lowest.txt"
    constraints.write_text("\n".join(lowest(declared(*EXTRAS))))
    rows: list[str] = []
    for python in found:
        for name, limits in (("lowest", constraints), ("newest", None)):
            print(f"Python {python} at {python.path}, the wheel with {name} dependencies", flush=True)
            environment = Environment(folder / f"environment-{len(rows)}", python=python.path)
            outcome = _tried(wheel, environment, constraints=limits)
            rows.append(f"| {python} | wheel, {name} dependencies | {outcome} |")
    return rows


def _tried(wheel: Path, environment: Environment, *, constraints: Path | None) -> str:
    try:
        installed = trial(wheel, environment, constraints=constraints)
        environment.install(*group("test"), *DECODERS, constraints=constraints)
        environment.run_tests(PROJECT, TESTS_OF_THE_WHEEL)
    except SystemExit as failure:
        print(failure)
        return "**failed**"
    return f"passed with {', '.join(f'{name} {installed[name]}' for name in SHOWN)}"


if __name__ == "__main__":
    main()
