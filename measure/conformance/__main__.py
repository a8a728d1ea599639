"""Check the sandbox with tools and clients of others: `python -m measure.conformance [--quick]`.

Without npm the checks that need it are skipped, and the output says so.
"""

import argparse
import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import foreign_clients, other_languages, prism, readers, specification

HERE = Path(__file__).resolve().parent
NODE = HERE.parents[1] / ".cache" / "conformance"
# Cases for each operation and run. A full run sends more than 10,000 cases.
EXAMPLES, QUICK_EXAMPLES = 650, 10


def installed() -> Path | None:
    """Install the npm packages, once, and return their folder; None without npm."""
    if shutil.which("npm") is None:
        print("npm is not installed: the checks that need it are skipped")
        return None
    NODE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "itwins_client.js"):
        shutil.copy(HERE / name, NODE / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
    subprocess.run(command, cwd=NODE, check=True)
    return NODE


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few hundred cases, without npm")
    names = ("specification", "readers", "prism", "clients", "languages")
    parser.add_argument("--only", choices=names, help="run one of the checks")
    return parser.parse_args()


def checks_of(arguments: argparse.Namespace) -> dict[str, Callable[[], bool]]:
    """Return the checks to run, by name."""
    examples = QUICK_EXAMPLES if arguments.quick else EXAMPLES
    node = None if arguments.quick or arguments.only == "specification" else installed()
    checks: dict[str, Callable[[], bool]] = {
        "specification": lambda: specification.check(examples=examples),
        "readers": lambda: readers.check(node),
        "prism": lambda: node is None or asyncio.run(prism.check(node)),
        "clients": lambda: asyncio.run(foreign_clients.check(node)),
        "languages": lambda: asyncio.run(other_languages.check(node)),
    }
    if arguments.only is not None:
        return {arguments.only: checks[arguments.only]}
    if arguments.quick:
        return {name: checks[name] for name in ("specification", "clients")}
    return checks


def main() -> bool:
    """Run the checks one after the other, and return whether all succeeded."""
    clean = True
    for name, check in checks_of(parsed()).items():
        started = time.perf_counter()
        clean = check() and clean
        print(f"({name}: {time.perf_counter() - started:.0f} s)\n")
    return clean


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
