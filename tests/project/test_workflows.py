"""The workflows run what the Makefile offers, with pinned actions and the least permissions."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.specification import parsed

PROJECT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    """The jobs of a workflow by name."""
    found: dict[str, dict[str, Any]] = parsed(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    return [step for job in jobs(path).values() for step in job["steps"]]


def test_there_is_a_workflow_for_each_purpose() -> None:
    """Checks for each commit, what takes longer at night, a release, and what takes an hour once a week."""
    assert [path.stem for path in WORKFLOWS] == ["checks", "nightly", "release", "weekly"]


@each_workflow
def test_a_workflow_runs_targets_of_the_makefile(path: Path) -> None:
    """Every command of a workflow is a target of the Makefile."""
    commands = [step["run"] for step in steps(path) if "run" in step]
    assert commands
    for command in commands:
        target = re.fullmatch(r"make ([a-z-]+)( [A-Z]+=\S+)*", command)
        assert target is not None, command
        assert target[1] in TARGETS


def test_the_checks_run_what_ci_runs() -> None:
    """Each commit is checked with the commands of .ci/run, and with the tests on other systems, and nothing else."""
    commands = re.findall(r"^make .+$", (PROJECT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert commands
    assert sorted(step["run"] for step in steps(WORKFLOWS[0]) if "run" in step) == sorted([*commands, "make test"])


def test_versions_are_tried_each_night_and_mutants_each_week() -> None:
    """What takes too long for each commit is not forgotten."""
    scheduled = {path.stem: [step["run"] for step in steps(path) if "run" in step] for path in WORKFLOWS}
    assert {"make test-all-pythons", "make conformance", "make reliability", "make audit"} == {*scheduled["nightly"]}
    assert scheduled["weekly"] == ["make mutants"]


@each_workflow
def test_an_action_is_pinned_by_its_commit(path: Path) -> None:
    """A tag can be moved to other code; a commit cannot."""
    for step in steps(path):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40))


@each_workflow
def test_a_job_has_the_least_permissions(path: Path) -> None:
    """Workflows have no permissions, each job names its own, and only the release may sign."""
    assert parsed(path)["permissions"] == {}
    for job in jobs(path).values():
        writable = {name for name, access in job["permissions"].items() if access == "write"}
        assert writable <= ({"id-token", "attestations"} if path.stem == "release" else set())


def test_every_supported_python_is_checked() -> None:
    """The checks run on each minor version that the classifiers name, and on the newest one as well."""
    matrix = jobs(WORKFLOWS[0])["check"]["strategy"]["matrix"]["python"]
    project = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r"Python :: (3\.\d+)\"", project)
    assert set(named) <= set(matrix)
    assert min(matrix, key=lambda version: int(version[2:])) == "3.11"
