"""Check the sandbox with tools and clients of others: `python -m measure.conformance [NAME]`.

A name selects one check; `quick` is the first one with a few hundred cases. Without npm the checks that need it are
skipped, and the output says so.
"""

import argparse
import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import itwins_client, other_languages, prism, readers, specification

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


def main() -> bool:
    """Run the checks one after the other, and return whether all succeeded."""
    names = ("specification", "readers", "prism", "itwins_client", "languages")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", choices=("quick", *names), help="the check to run; all by default")
    only = parser.parse_args().only
    if only == "quick":
        return specification.check(examples=QUICK_EXAMPLES)
    node = None if only == "specification" else installed()
    checks: dict[str, Callable[[], bool]] = {
        "specification": lambda: specification.check(examples=EXAMPLES),
        "readers": lambda: readers.check(node),
        "prism": lambda: node is None or asyncio.run(prism.check(node)),
        "itwins_client": lambda: node is None or asyncio.run(itwins_client.check(node)),
        "languages": lambda: asyncio.run(other_languages.check(node)),
    }
    clean = True
    for name in names if only is None else (only,):
        started = time.perf_counter()
        clean = checks[name]() and clean
        print(f"({name}: {time.perf_counter() - started:.0f} s)\n")
    return clean


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
