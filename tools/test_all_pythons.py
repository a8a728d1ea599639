"""Tries the wheel on every Python from 3.11 that this machine has, with the lowest and the newest dependencies.

Run as `python tools/test_all_pythons.py`. The lowest are the lower bounds of pyproject.toml, of the extras
too; the newest are what pip chooses. Prints a table of what passed; a failure ends the run.
"""

import tempfile
from pathlib import Path

from clean_environment import pythons
from distribution import build, declared, lowest
from package import trial

EXTRAS = ("sandbox", "fast")


def main() -> None:
    """Builds once, tries each combination, and prints the table."""
    wheel = build()
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "lowest.txt"
        constraints.write_text("\n".join(lowest(declared(*EXTRAS))))
        for python in pythons():
            for name, limits in (("lowest", constraints), ("newest", None)):
                print(f"Python {python} at {python.path}, {name} dependencies", flush=True)
                own = Path(folder) / f"{python}-{name}-{len(rows)}"
                installed = trial(wheel, python=python.path, constraints=limits, folder=own)
                versions = [f"{key} {installed[key]}" for key in ("httpx", "attrs", "python-dateutil")]
                rows.append(f"| {python} | {name} | {', '.join(versions)} | passed |")
    print("", "| Python | dependencies | versions | |", "|---|---|---|---|", *rows, sep="\n")


if __name__ == "__main__":
    main()
