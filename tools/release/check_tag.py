"""Check that a tag, the version of the package and the newest heading of the changelog agree."""

import re
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


def check_tag(tag: str) -> None:
    """Compare a tag with the checkout.

    Raises:
        SystemExit: They disagree.
    """
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
