"""What a visitor of the repository is told: where to report what, how to take part; and that it is true."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ("SECURITY.md", ".github/CONTRIBUTING.md")
FORMS = {path.stem: path for path in (PROJECT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"}
#: What a form's elements must and may have besides a label, by type.
ATTRIBUTES = {
    "markdown": {"value"},
    "input": {"label", "description", "placeholder", "value"},
    "textarea": {"label", "description", "placeholder", "value", "render"},
    "dropdown": {"label", "description", "options", "multiple", "default"},
    "checkboxes": {"label", "description", "options"},
}
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
each_form = pytest.mark.parametrize("name", sorted(FORMS))


def text(page: str) -> str:
    """A page as it is written."""
    return (PROJECT / page).read_text(encoding="utf-8")


def form(name: str) -> dict[str, Any]:
    """A form as it is read."""
    read: dict[str, Any] = yaml.safe_load(FORMS[name].read_text(encoding="utf-8"))
    return read


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


def test_the_development_walk_is_five_commands() -> None:
    """As promised: five lines to paste, each with what it does."""
    walk = re.search(r"^```sh\n(.*?)^```", text(".github/CONTRIBUTING.md"), re.DOTALL | re.MULTILINE)
    assert walk
    lines = walk[1].splitlines()
    assert len(lines) == 5
    assert all(re.fullmatch(r"make [a-z-]+ +# \S.*", line) for line in lines)


def test_every_promise_of_security_names_a_test() -> None:
    """No row of the table stands by its word alone."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", text("SECURITY.md").partition("| Promise |")[2], re.MULTILINE)
    assert len(rows) > 5
    for promise, held in rows:
        assert re.search(r"`tests/\w+/test_\w+\.py`", held), promise


@each_form
def test_a_form_has_what_forms_need(name: str) -> None:
    """Name, description and elements, each of a known type, with a label, and an id of its own."""
    read = form(name)
    assert {"name", "description", "body"} <= read.keys() <= {"name", "description", "title", "labels", "body"}
    asked = [element for element in read["body"] if element["type"] != "markdown"]
    for values in ([each["id"] for each in asked], [each["attributes"]["label"] for each in asked]):
        assert values
        assert len(values) == len(set(values))
    assert all(re.fullmatch(r"[a-z_]+", each["id"]) for each in asked)
    for element in read["body"]:
        assert element.keys() <= {"type", "id", "attributes", "validations"}
        assert element["attributes"].keys() <= ATTRIBUTES[element["type"]]
        assert all(isinstance(each, str) for key, each in element["attributes"].items() if key != "options")
        assert element.get("validations", {"required": True}) == {"required": True}


@each_form
def test_what_is_asked_for_and_what_is_helpful_differ(name: str) -> None:
    """Something must be said, and not everything: long forms are not filled in."""
    required = [element for element in form(name)["body"] if "validations" in element]
    assert 0 < len(required) <= 3


def test_the_form_for_a_changed_preview_knows_every_operation() -> None:
    """The choices are the operations of openapi.yaml, the previews marked, and one for what is not there yet."""
    specification = yaml.safe_load(text("openapi.yaml"))
    operations = [each for path in specification["paths"].values() for each in path.values() if "operationId" in each]
    wanted = {each["summary"] + " (Technical Preview)" * bool(each.get("x-technical-preview")) for each in operations}
    (dropdown,) = (element for element in form("preview_changed")["body"] if element["type"] == "dropdown")
    *offered, other = dropdown["attributes"]["options"]
    assert set(offered) == wanted
    assert other.startswith("another")


def test_vulnerabilities_are_not_asked_for_in_public() -> None:
    """Who reports a bug reads first that there is another way for a vulnerability; no empty issue goes round it."""
    assert "SECURITY.md" in form("bug")["body"][0]["attributes"]["value"]
    config = yaml.safe_load(text(".github/ISSUE_TEMPLATE/config.yml"))
    assert config == {"blank_issues_enabled": False}
