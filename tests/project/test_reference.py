"""The reference says all that the docstrings say: nothing of them is dropped on the way."""

import logging

import griffe
import pytest
from itwin_platform import __all__ as public_names

from tests.support.code_blocks import PROJECT
from tools.site.plain_text import DOCS, markdown_of
from tools.site.reference_docstrings import ReferenceDocstrings, completed, linked

GROUPS = [
    ("_operations.itwins", "ITwins"),
    ("_operations.repositories", "Repositories"),
    ("_operations.scenes", "Scenes"),
    ("_operations.detectors", "Detectors"),
    ("_operations.webhooks", "Webhooks"),
]

DOCSTRING = """Lists.

Args:
    filter: an OData filter, which the ranges
        are added to.
    select, page_size: as in `list`.

Raises:
    UsageError: a number out of its range.
    During iteration: PagingError where it goes nowhere; else as `list`.
    BadRequestError (InvalidScenesRequest), NotFoundError
    (SceneNotFound), RateLimitError.

Raises (from a request):
    NotSentError, OutcomeUnknownError: no answer.

Source: section 4.3."""

COMPLETED = """Lists.

Args:
    filter: an OData filter, which the ranges are added to.
    select: as in `list`.
    page_size: as in `list`.

Raises:
    UsageError: a number out of its range.
    PagingError: during iteration: where it goes nowhere; else as `list`
    BadRequestError: 400: the body is not valid (`InvalidScenesRequest`)
    NotFoundError: 404: the resource or the operation does not exist (`SceneNotFound`)
    RateLimitError: 429, or held back by a known cooldown; `tier`, `api` and `operation` name the limit, or are None

Raises:
    NotSentError: from a request: no answer.
    OutcomeUnknownError: from a request: no answer.

Source: section 4.3."""


def test_each_name_gets_its_entry() -> None:
    """Names that share an entry get one each, and an entry over two lines stays one."""
    assert completed(DOCSTRING) == COMPLETED


@pytest.fixture(scope="module")
def modules() -> griffe.ModulesCollection:
    """The packages as the documentation site reads them."""
    folders = [PROJECT / "wrapper", PROJECT / "generated", PROJECT / "sandbox"]
    loader = griffe.GriffeLoader(search_paths=folders, extensions=griffe.load_extensions(ReferenceDocstrings()))
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
        for value in [*(package[name] for name in public_names), *groups, sandbox]:
            members = value.all_members.values() if value.is_class else ()
            for item in [value, *members]:
                if item.docstring is not None and not item.name.startswith("_"):
                    read += len(item.docstring.parse("google"))
    assert read > len(public_names)
    assert [record.getMessage() for record in caplog.records] == []


def test_a_default_is_shown_as_its_value(modules: griffe.ModulesCollection) -> None:
    """A reader sees the number that applies, not the name of a private constant."""
    package = modules["itwin_platform"]
    found: dict[tuple[str, str], str] = {}
    for value in [*(package[f"{module}.{name}"] for module, name in GROUPS), *(package[name] for name in public_names)]:
        for function in value.functions.values() if value.is_class else ():
            found |= {(function.path, each.name): str(each.default) for each in function.parameters if each.default}
    assert found[package["_operations.itwins.ITwins.list"].path, "max_return"] == "10000"
    assert [place for place, default in found.items() if default.isupper() and default != "UNSET"] == []


def test_no_field_shows_how_it_is_made(modules: griffe.ModulesCollection) -> None:
    """A reader sees the type of a model's field, not the private call that makes it."""
    package = modules["itwin_platform"]
    shown = [
        (attribute.path, str(attribute.value))
        for value in (package[name] for name in public_names)
        for attribute in (value.attributes.values() if value.is_class else ())
    ]
    assert shown
    assert [place for place, made in shown if "_attrs_field(" in made] == []


def test_the_markdown_copy_has_values_and_members() -> None:
    """The Markdown copy of the reference has the values of enums and the methods of classes, and no private module."""
    copies = {page.stem: markdown_of(f"reference/{page.name}") for page in (DOCS / "reference").glob("*.md")}
    assert "    PROJECT = 'Project'" in copies["enums"]
    assert "#### Pager.collect\n\n```python\nasync def collect() -> list[~T]" in copies["pager"]
    assert "#### Sandbox.unused_faults" in copies["sandbox"]  # of a private base
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
