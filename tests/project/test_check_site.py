"""The check of the built site tells what the build itself is silent about."""

from pathlib import Path

import pytest

from tools.site.check_site import problems

FIRST = '<p id="top">First</p><a href="second/">on</a><script src="assets/site.js"></script>'
SECOND = '<h2 id="itwin_platform.Name">Name</h2><a href="../#top">back</a><a href="https://example.com">out</a>'


def site(folder: Path, first: str = FIRST, second: str = SECOND) -> list[str]:
    """Writes a site of two pages and checks it."""
    (folder / "assets").mkdir()
    (folder / "assets" / "site.js").touch()
    (folder / "second").mkdir()
    (folder / "index.html").write_text(first)
    (folder / "second" / "index.html").write_text(second)
    return list(problems(folder, ["Name"]))


def test_sound_site_has_no_problems(tmp_path: Path) -> None:
    """Links within the site and out of it, and what it loads from itself, are well."""
    assert site(tmp_path) == []


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (SECOND + '<a href="../third/">x</a>', "second/: leads to third/, which is not there"),
        (SECOND + '<a href="../#nowhere">x</a>', "second/: leads to #nowhere, which is not on that page"),
        (SECOND + '<img src="https://example.com/x.png">', "second/: loads https://example.com/x.png"),
        (SECOND + "<p>::: itwin_platform.Other</p>", "second/: shows ::: as text"),
        ("<p>empty</p>", "Name: not in the reference"),
    ],
)
def test_each_problem_is_told(tmp_path: Path, second: str, told: str) -> None:
    """A dead link, a missing place, a foreign picture, a name left in Markdown, and a missing name are told."""
    assert site(tmp_path, second=second) == [told]


def test_page_without_a_way_in_is_told(tmp_path: Path) -> None:
    """A page that no link leads to is told."""
    assert site(tmp_path, first=FIRST.replace("second/", "./")) == ["second/: no link leads there"]
