"""Check that a tag, the version of the package and the newest heading of the changelog agree."""

import re
import sys

from tools.release.clean_environment import run
from tools.release.distribution import PROJECT


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
    version = run(sys.executable, "-m", "hatchling", "version", silent=True, folder=PROJECT).strip()
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?([0-9][^\]\s]*)", changelog, re.MULTILINE)
    if found := problems(tag, version=version, newest=newest[1] if newest else "Unreleased"):
        raise SystemExit("\n".join(found))
