"""`make spec-diff` as a command: its status, and a git revision as its base."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.generation.test_spec_diff import changed, more_harmless, one_breaking_two_harmless
from tests.support.real_time import LONGEST
from tests.support.regenerated import PROJECT, Change, Document
from tools.spec.reading import SPECIFICATION, load


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command behind the make target."""
    command = [sys.executable, "-m", "tools.spec.diff", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=LONGEST)  # noqa: S603 - our own tool


@pytest.mark.parametrize(("change", "status"), [(one_breaking_two_harmless, 1), (more_harmless, 0)])
def test_status_says_whether_something_breaks(
    specification: Document, tmp_path: Path, change: Change, status: int
) -> None:
    """The command ends with status 1 when something breaks, else with 0."""
    ended = run(str(SPECIFICATION), changed(specification, change, tmp_path))
    assert (ended.returncode, ended.stderr) == (status, "")
    assert ended.stdout.startswith(f"Breaking: {status}\n")


def test_base_may_be_a_git_revision() -> None:
    """A git revision as the base means `openapi.yaml` as it was committed there."""
    git = ["git", "-C", str(PROJECT), "rev-parse", "HEAD"]
    if subprocess.run(git, capture_output=True, check=False).returncode != 0:  # noqa: S603 - asks git where we are
        pytest.skip("not a git checkout")
    assert load("HEAD").operations.keys() == load(str(SPECIFICATION)).operations.keys()
