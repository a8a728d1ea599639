"""The reference says all that the docstrings say: nothing of them is dropped on the way."""

import logging
import re

import griffe
import pytest

from tests.operations.conftest import OPERATIONS
from tests.support.code_blocks import PROJECT
from tests.support.public_face import NAMES
from tools.site.plain_text import DOCS, markdown_of
from tools.site.specification_links import SpecificationLinks, linked

GROUPS = [
    ("_operations.itwins", "ITwins"),
    ("_operations.repositories", "Repositories"),
    ("_operations.scenes", "Scenes"),
    ("_operations.detectors", "Detectors"),
    ("_operations.webhooks", "Webhooks"),
]


@pytest.fixture(scope="module")
def modules() -> griffe.ModulesCollection:
    """The packages as the documentation site reads them."""
    folders = [PROJECT / "wrapper", PROJECT / "generated", PROJECT / "sandbox"]
    loader = griffe.GriffeLoader(search_paths=folders, extensions=griffe.load_extensions(SpecificationLinks()))
    for package in ("itwin_platform", "itwin_platform_api", "itwin_platform_sandbox"):
        loader.load(package)
    loader.resolve_aliases(external=True)
    return loader.modules_collection


def test_no_docstring_is_misread(modules: griffe.ModulesCollection, caplog: pytest.LogCaptureFixture) -> None:
    """Every docstring of the public names, and of their members, is read without a complaint of the parser."""
    package = modules["itwin_platform"]
    sandbox = modules["itwin_platform_sandbox.Sandbox"]
    groups = [package[f"{module}.{name}"] for module, name in GROUPS]
    read = 0
    with caplog.at_level(logging.WARNING):
        for value in [*(package[name] for name in NAMES), *groups, sandbox]:
            members = value.all_members.values() if value.is_class else ()
            for item in [value, *members]:
                if item.docstring is not None and not item.name.startswith("_"):
                    read += len(item.docstring.parse("google"))
    assert read > len(NAMES)
    assert [record.getMessage() for record in caplog.records] == []


def test_a_field_shows_all_that_is_said_of_it(modules: griffe.ModulesCollection) -> None:
    """The list of a model's fields shows one line of each docstring, so that line has all words."""
    field = modules["itwin_platform.SceneObject"]["related_id"]
    assert field.docstring.value.endswith("not allowed for others.")
    assert "\n" not in field.docstring.value


def test_the_markdown_copy_has_values_and_members() -> None:
    """The Markdown copy of the reference has the values of enums and the methods of classes, and no private module."""
    copies = {page.stem: markdown_of(f"reference/{page.name}") for page in (DOCS / "reference").glob("*.md")}
    assert "    PROJECT = 'Project'" in copies["enums"]
    assert "#### Pager.collect\n\n```python\nasync def collect() -> list[~T]" in copies["pager"]
    assert "#### Sandbox.unused_faults" in copies["sandbox"]  # of a private base
    assert "```python\nPager\n```" in copies["pager"]  # users do not construct one
    assert "#### Gate.aclose" in copies["backoff"]
    assert "#### Gate.enter" not in copies["backoff"]  # not among the members that the page selects
    assert "TokenProvider = str | AccessToken" in copies["tokens"]
    assert [name for name, text in copies.items() if " at 0x" in text or "itwin_platform._" in text] == []


def test_a_source_becomes_a_link_into_the_specification() -> None:
    """Docstrings name sections of a document that is not published; the reference links the operation instead."""
    assert linked("Lists.\n\nSource: section 4.3.") == (
        "Lists.\n\nSpecification: [list_itwins](specification.md#list_itwins)."
    )
    assert linked("A value. Source: section 2.11.") == "A value."
    assert linked("Two of them.\n    Source: sections 4.1, 4.2.").endswith(
        "    Specification: [update_repository](specification.md#update_repository), "
        "[create_repository_resource](specification.md#create_repository_resource)."
    )


def test_a_docstring_names_its_operation_of_the_specification() -> None:
    """An editor shows no link: the docstring of each operation says where to read, and the site links the same."""
    text = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "wrapper").rglob("*.py"))
    named = re.findall(r"(Source: section 4\.\d, (\w+) on the specification page of the documentation\.)", text)
    assert {name for _, name in named} == set(OPERATIONS)
    assert [name for line, name in named if f"[{name}](specification.md#{name})" not in linked(line)] == []
