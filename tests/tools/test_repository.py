"""The repository beside its code: workflows, pages for contributors, the distribution, and its release."""

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import itwin_platform
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.processes import PROJECT
from tests.support.specification import parsed
from tools.release.clean_environment import SUPPORTED
from tools.release.index_readme import readme_for_an_index
from tools.release.package import problems
from tools.release.test_all_pythons import lowest


def text(name: str) -> str:
    """A file of the project."""
    return (PROJECT / name).read_text(encoding="utf-8")


TARGETS = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
PYPROJECT: dict[str, Any] = tomllib.loads(text("pyproject.toml"))
DEPENDENCIES: list[str] = PYPROJECT["project"]["dependencies"]
#: The targets of the nightly workflow.
NIGHTLY = ("test-all-pythons", "conformance", "reliability", "audit", "mutants")
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))


def steps(path: Path) -> list[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    return [step for job in parsed(path)["jobs"].values() for step in job["steps"]]


def commands(path: Path) -> list[str]:
    """The targets that a workflow runs; Python 3.13 and newer need a Redis server of the system."""
    return [step["run"] for step in steps(path) if "run" in step and "redis-server" not in step["run"]]


def test_there_is_a_workflow_for_each_purpose() -> None:
    """There is a workflow for each commit, for the night, and for a release."""
    checks, nightly, release = WORKFLOWS
    assert [checks.stem, nightly.stem, release.stem] == ["checks", "nightly", "release"]
    of_ci = re.findall(r"^make .+$", text(".ci/run"), re.MULTILINE)
    assert of_ci
    # Each Python has a job of its own there.
    of_ci.remove("make test-all-pythons ONLY=commands")
    assert sorted(commands(checks)) == sorted([*of_ci, "make test"])
    assert {*commands(nightly)} == {f"make {each}" for each in NIGHTLY}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_pinned_actions_and_has_the_least_permissions(path: Path) -> None:
    """Each command is a target of the Makefile, each action a commit, and only the release may sign."""
    found = [re.fullmatch(r"make ([a-z-]+)( [A-Z]+=\S+)*", command) for command in commands(path)]
    assert found
    assert {match[1] if match else None for match in found} <= TARGETS
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", name)] == []
    assert parsed(path)["permissions"] == {}
    for job in parsed(path)["jobs"].values():
        writable = {name for name, access in job["permissions"].items() if access == "write"}
        assert writable <= ({"id-token", "attestations"} if path.stem == "release" else set())


def test_a_job_that_may_write_runs_no_code_of_the_project() -> None:
    """A job that signs or uploads a release has neither a checkout nor a command: it takes files of another job."""
    jobs = parsed(WORKFLOWS[2])["jobs"].values()
    writing = [job for job in jobs if "write" in job["permissions"].values()]
    assert len(writing) == 2
    for job in writing:
        assert [step.get("run") for step in job["steps"] if "run" in step or "checkout" in step["uses"]] == []


def test_every_requirements_file_is_watched() -> None:
    """Dependabot looks into each folder that has pinned versions."""
    updates = parsed(PROJECT / ".github" / "dependabot.yml")["updates"]
    watched = next(each for each in updates if each["package-ecosystem"] == "pip")["directories"]
    files = [each for each in PROJECT.glob("*/**/requirements*.txt") if not each.is_relative_to(PROJECT / "site")]
    folders = {f"/{each.parent.relative_to(PROJECT).as_posix()}" for each in files if "/." not in each.as_posix()}
    assert {"/", *folders} == {*watched}


def test_every_supported_python_is_checked() -> None:
    """The workflows and `make test-all-pythons` have the minor versions of the classifiers."""
    matrix = parsed(WORKFLOWS[0])["jobs"]["check"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PYPROJECT["project"]["classifiers"]))
    at_night = parsed(WORKFLOWS[1])["jobs"]["versions"]["strategy"]["matrix"]["python"]
    assert [*SUPPORTED] == named == matrix == at_night


@pytest.mark.parametrize("page", ["SECURITY.md", ".github/CONTRIBUTING.md"])
def test_the_links_of_a_page_lead_to_files(page: str) -> None:
    """Each relative link of a page leads to a file."""
    linked = re.findall(r"\]\(([^)#:]+)\)", text(page))
    assert linked
    assert [name for name in linked if not ((PROJECT / page).parent / name).exists()] == []


def test_every_promise_of_security_names_a_test() -> None:
    """Each row of the table names at least one test, and every test that it names exists."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", text("SECURITY.md").partition("| Promise |")[2], re.MULTILINE)
    assert len(rows) > 5
    for promise, held in rows:
        named = re.findall(r"`(tests/[\w/]+/test_\w+\.py)::(test_\w+)`", held)
        assert named, promise
        assert [name for file, name in named if f"def {name}(" not in text(file)] == []


def test_nothing_installs_the_distribution_by_name() -> None:
    """The distribution is on no package index, where somebody else could take its name."""
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "examples").rglob("*.md")]
    modules = [path for folder in ("wrapper", "sandbox") for path in (PROJECT / folder).rglob("*.py")]
    by_name = re.compile(r"(?:pip install|uv add|poetry add)[^\n`]*\bitwin[-_]platform\b|\bitwin-platform\[")
    assert [path.name for path in (*pages, *modules) if by_name.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("tag", "newest", "said"),
    [
        ("v1.2.0", "1.2.0", None),
        ("1.2.0", "1.2.0", "tag v1.2.0"),
        ("v1.3.0", "1.2.0", "tag v1.2.0"),
        ("v1.2.0", "1.1.0", "add a section for 1.2.0"),
    ],
)
def test_a_tag_is_released_when_version_and_changelog_agree(tag: str, newest: str, said: str | None) -> None:
    """The tag is `v` and the version, with which the changelog begins; the error of a mismatch says how to fix it."""
    found = problems(tag, version="1.2.0", changelog=f"# Changes\n\n## Unreleased\n\n## {newest} - 2027-01-31\n")
    assert [said in problem for problem in found if said] == [True] * (said is not None)


def name_of(requirement: str) -> str:
    """Return the name of the distribution of a requirement."""
    return canonicalize_name(Requirement(requirement).name)


def test_the_image_of_the_sandbox_has_all_that_its_build_reads() -> None:
    """The image installs the distribution from files that its Containerfile copies one by one."""
    copied = {
        name
        for line in re.findall("^COPY (.+)", text("sandbox/Containerfile"), re.MULTILINE)
        for name in line.split()[:-1]
    }
    build = PYPROJECT["tool"]["hatch"]
    read = [
        build["version"]["path"],
        build["metadata"]["hooks"]["custom"]["path"],
        *build["build"]["targets"]["wheel"]["packages"],
    ]
    for name in [*read, *PYPROJECT["project"]["license-files"], "pyproject.toml", "README.md"]:
        assert any(name == each or name.startswith(f"{each}/") for each in copied), name


def test_users_need_few_distributions_each_with_a_lowest_version() -> None:
    """The requirements are httpx with its own, httptools, msgspec, attrs and python-dateutil.

    The lowest versions that are tried are read from the requirements, so each must say one.
    """
    assert lowest(["a>=1.2,<2", "b-c>=3"]) == ["a==1.2", "b-c==3"]
    with pytest.raises(SystemExit, match="has no lower bound"):
        lowest(["a"])
    extras = PYPROJECT["project"]["optional-dependencies"]
    wanted = [*DEPENDENCIES, *extras["sandbox"], *extras["redis"]]
    assert len(lowest(wanted)) == len(wanted)
    brought = {name_of(requirement) for requirement in importlib.metadata.requires("httpx") or ()}
    assert {*map(name_of, DEPENDENCIES)} - brought == {"httpx", "httptools", "msgspec", "attrs", "python-dateutil"}


def test_the_readme_has_no_relative_link_on_a_package_index() -> None:
    """A relative link becomes absolute, or goes when the project has no address; other links stay."""
    others = "[there](https://a.example), [here](#use)\n\n\n"
    readme = f"![A page](docs/a.png)\n\nSee [pages](docs/a.md#b), {others}"
    absolute = f"![A page](https://b.example/docs/a.png)\n\nSee [pages](https://b.example/docs/a.md#b), {others}"
    assert readme_for_an_index(readme, source="https://b.example/") == absolute
    assert readme_for_an_index(readme, source=None) == f"See pages, {others}"


def test_versions_and_requirements_are_stated_once() -> None:
    """Each tool of `make check` is pinned, and the example service has the requirements of the package."""
    lines = text("constraints.txt").splitlines()
    pinned = [canonicalize_name(line.partition("==")[0]) for line in lines if not line.startswith("#")]
    tools = [requirement for group in PYPROJECT["dependency-groups"].values() for requirement in group]
    assert [name for name in map(name_of, tools) if name not in pinned] == []
    assert PYPROJECT["project"]["dynamic"] == ["readme", "version"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "wrapper/itwin_platform/_version.py"
    assert importlib.metadata.version("itwin-platform") == itwin_platform.__version__
    asked = tomllib.loads(text("examples/vendored_service/pyproject.toml"))["project"]["dependencies"]
    assert [requirement for requirement in DEPENDENCIES if requirement not in asked] == []
