"""Check that a tag, the version of the package and the newest heading of the changelog agree.

Run as `python -m tools.release.check_tag TAG`.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def problems(tag: str, *, version: str, newest: str) -> list[str]:
    """Return a line for each disagreement, with what to do."""
    found: list[str] = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but __version__ is {version}: tag v{version}, or change _version.py first")
    if newest != version:
        found.append(
            f"the newest section of CHANGELOG.md is {newest}, but __version__ is {version}: add a section for {version}"
        )
    return found


def main() -> None:
    """Read the command line and the checkout, and exit with status 1 if there is a disagreement."""
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise SystemExit("name the tag: make check-tag TAG=v1.2.3")
    tag = sys.argv[1]
    code = (PROJECT / "wrapper" / "itwin_platform" / "_version.py").read_text(encoding="utf-8")
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.+)"', code)
    newest = re.search(r"^## \[?([0-9][^\]\s]*)", changelog, re.MULTILINE)
    if version is None:
        raise SystemExit("_version.py has no __version__: write it as the tag has it, without the v")
    if newest is None:
        raise SystemExit(f"CHANGELOG.md has no section of a release: rename its section Unreleased to {version[1]}")
    if found := problems(tag, version=version[1], newest=newest[1]):
        raise SystemExit("\n".join(found))
    print(f"{tag} can be released")


if __name__ == "__main__":
    main()
