"""`make spec-diff` as a command: its status, and a git revision as its base."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.generation.test_spec_diff import changed, more_harmless, one_breaking_two_harmless
from tests.support.processes import ended
from tests.support.regenerated import Change, Document
from tools.generation.document import SPECIFICATION, load_document


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command behind the make target."""
    return ended("python", "-m", "tools.spec.diff", *arguments, status=None)


@pytest.mark.parametrize(("change", "status"), [(one_breaking_two_harmless, 1), (more_harmless, 0)])
def test_status_says_whether_something_breaks(
    specification: Document, tmp_path: Path, change: Change, status: int
) -> None:
    """The command ends with status 1 when something breaks, else with 0."""
    process = run(str(SPECIFICATION), changed(specification, change, tmp_path))
    assert process.returncode == status, process.stderr
    assert process.stdout.startswith(f"Breaking: {status}\n")


def unused(document: Document) -> None:
    """Use a schema nowhere."""
    del document["components"]["schemas"]["Repository"]["properties"]["capabilities"]


def gone(document: Document) -> None:
    """Remove a schema."""
    unused(document)
    del document["components"]["schemas"]["RepositoryCapabilities"]


def titled(document: Document) -> None:
    """Give a schema a title."""
    document["components"]["schemas"]["ITwin"]["title"] = "The iTwin"


@pytest.mark.parametrize(
    ("change", "breaking", "line"),
    [
        (unused, 1, "Repository.capabilities (returned by update_repository): is gone"),
        (gone, 2, "RepositoryCapabilities (returned by update_repository): is gone"),
        (titled, 0, "ITwin.title (returned by list_itwins)"),
    ],
)
def test_what_the_packages_say_is_told(
    specification: Document, tmp_path: Path, change: Change, breaking: int, line: str
) -> None:
    """A class that is still generated is not called gone, one that is gone breaks, and a title renames nothing."""
    process = run(str(SPECIFICATION), changed(specification, change, tmp_path))
    assert process.stderr == ""
    assert process.stdout.startswith(f"Breaking: {breaking}\n"), process.stdout
    assert f"  {line}\n" in process.stdout


def test_a_document_that_is_not_valid_is_rejected_with_its_lines(specification: Document, tmp_path: Path) -> None:
    """A reference that leads nowhere is named with file and line, not by a traceback."""

    def dangling(document: Document) -> None:
        document["components"]["schemas"]["ITwin"]["properties"]["part"] = {"$ref": "#/components/schemas/Gone"}

    process = run(str(SPECIFICATION), changed(specification, dangling, tmp_path))
    assert re.search(r"\.yaml:\d+: components schemas ITwin properties part: \$ref .* leads nowhere", process.stderr)
    assert "Traceback" not in process.stderr


def test_base_may_be_a_git_revision() -> None:
    """A git revision as the base means `openapi.yaml` as it was committed there."""
    if ended("git", "rev-parse", "HEAD", status=None).returncode != 0:
        pytest.skip("not a git checkout")
    assert load_document("HEAD")["openapi"] == load_document(str(SPECIFICATION))["openapi"]
