"""A tag is released only when it, the version and the changelog agree."""

import re
from pathlib import Path

import pytest

from tools.release.check_tag import problems


def test_a_tag_that_agrees_is_released() -> None:
    """The tag is `v` and the version, and the changelog begins with that version."""
    assert problems("v1.2.0", version="1.2.0", newest="1.2.0") == []


@pytest.mark.parametrize(
    ("tag", "newest", "said"),
    [
        ("1.2.0", "1.2.0", "tag v1.2.0"),
        ("v1.3.0", "1.2.0", "tag v1.2.0"),
        ("v1.2.0", "1.1.0", "add a section for 1.2.0"),
    ],
)
def test_a_tag_that_does_not_agree_is_rejected(tag: str, newest: str, said: str) -> None:
    """Each mismatch is named with what to do."""
    (found,) = problems(tag, version="1.2.0", newest=newest)
    assert said in found


def test_the_changelog_keeps_its_form() -> None:
    """Unreleased changes come first, then releases from the newest on, each in the sections of Keep a Changelog."""
    text = (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    promise, first, *releases = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert (promise, first) == ("What a version number promises", "Unreleased")
    versions = [tuple(map(int, re.findall(r"\d+", release.partition(" - ")[0]))) for release in releases]
    assert versions == sorted(versions, reverse=True)
    sections = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert sections <= {"Service", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
