"""The pages of the repository say where to report what and how to contribute, and their facts are true."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.specification import specification
from tools.generation.unwrapped import wrapped_part

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ("SECURITY.md", ".github/CONTRIBUTING.md")
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def text(page: str) -> str:
    """A page as it is written."""
    return (PROJECT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    """Each file that it links to or names, from the top of the project."""
    linked = [(PROJECT / page).parent / name for name in re.findall(r"\]\(([^)#:]+)\)", text(page))]
    folders = "tests|docs|measure|wrapper|templates|generated"
    named = [PROJECT / name for name in re.findall(rf"\b((?:{folders})/[\w./-]*)", text(page))]
    assert [path for path in (*linked, *named) if not path.exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ".github/PULL_REQUEST_TEMPLATE.md"])
def test_what_a_page_says_to_make_can_be_made(page: str) -> None:
    """Each `make` target is in the Makefile."""
    said = set(re.findall(r"(?:^|`)make ([a-z-]+)", text(page), re.MULTILINE))
    assert said
    assert said <= TARGETS


def test_every_promise_of_security_names_a_test() -> None:
    """Each row of the table names at least one test, and every test that it names exists."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", text("SECURITY.md").partition("| Promise |")[2], re.MULTILINE)
    assert len(rows) > 5
    for promise, held in rows:
        named = re.findall(r"`(tests/\w+/test_\w+\.py)::(test_\w+)`", held)
        assert named, promise
        assert [name for file, name in named if f"def {name}(" not in text(file)] == []


def test_the_form_for_a_changed_preview_knows_every_operation() -> None:
    """The choices are the operations with a wrapper, the previews marked, and one for all others."""
    form: dict[str, Any] = yaml.safe_load(text(".github/ISSUE_TEMPLATE/preview_changed.yml"))
    paths = wrapped_part(specification())["paths"]
    operations = [each for path in paths.values() for each in path.values() if "operationId" in each]
    wanted = {each["summary"] + " (Technical Preview)" * bool(each.get("x-technical-preview")) for each in operations}
    (dropdown,) = (element for element in form["body"] if element["type"] == "dropdown")
    *offered, other = dropdown["attributes"]["options"]
    assert set(offered) == wanted
    assert other.startswith("another")


def test_nothing_installs_the_distribution_by_name() -> None:
    """The distribution is on no package index, where somebody else could take its name."""
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "examples").rglob("*.md")]
    modules = [path for folder in ("wrapper", "sandbox") for path in (PROJECT / folder).rglob("*.py")]
    by_name = re.compile(r"(?:pip install|uv add|poetry add)[^\n`]*\bitwin[-_]platform\b|\bitwin-platform\[")
    assert [path.name for path in (*pages, *modules) if by_name.search(path.read_text(encoding="utf-8"))] == []
