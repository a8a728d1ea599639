"""What the distribution declares and holds; that it installs and runs is for `make package`."""

import importlib.metadata
import tomllib
from pathlib import Path

import itwin_platform
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release import distribution
from tools.release.index_readme import readme_for_an_index

PROJECT = Path(__file__).resolve().parents[2]


def names() -> list[str]:
    """The files of a wheel that is as it should be."""
    return [
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in distribution.PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ] + ["itwin_platform-0.1.0.dist-info/METADATA"]


def test_a_wheel_with_all_of_the_three_packages_is_as_it_should_be() -> None:
    """All files of the three packages, and metadata, are no fault."""
    assert distribution.faults(names()) == []


def test_every_requirement_has_a_lowest_version() -> None:
    """The lowest versions that are tried are read from the requirements of users, so each must say one."""
    assert distribution.lowest(["a>=1.2,<2", "b-c>=3"]) == ["a==1.2", "b-c==3"]
    with pytest.raises(SystemExit, match="has no lower bound"):
        distribution.lowest(["a"])
    wanted = distribution.declared("sandbox", "redis")
    assert len(distribution.lowest(wanted)) == len(wanted)


def test_users_need_few_distributions() -> None:
    """httpx with what it brings, httptools, msgspec, attrs and python-dateutil are all; none is for development."""
    needed = {_name(requirement) for requirement in distribution.declared()}
    brought = {_name(requirement) for requirement in importlib.metadata.requires("httpx") or ()}
    assert needed - brought == {"httpx", "httptools", "msgspec", "attrs", "python-dateutil"}
    assert {"mypy", "pytest", "openapi-python-client"} <= distribution.development_tools()
    assert not needed & distribution.development_tools()


def test_the_readme_has_no_relative_link_on_a_package_index() -> None:
    """A relative link becomes absolute, or goes when the project has no address; other links stay."""
    others = "[there](https://a.example), [here](#use)\n\n\n"
    text = f"![A page](docs/a.png)\n\nSee [pages](docs/a.md#b), {others}"
    absolute = f"![A page](https://b.example/docs/a.png)\n\nSee [pages](https://b.example/docs/a.md#b), {others}"
    assert readme_for_an_index(text, source="https://b.example/") == absolute
    assert readme_for_an_index(text, source=None) == f"See pages, {others}"


def test_every_development_tool_is_pinned() -> None:
    """What `make check` uses is pinned, so that it says tomorrow what it says today."""
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [canonicalize_name(line.partition("==")[0]) for line in lines if not line.startswith("#")]
    with (PROJECT / "pyproject.toml").open("rb") as file:
        group = tomllib.load(file)["dependency-groups"]["development"]
    assert [name for name in map(_name, group) if name not in pinned] == []


def test_the_version_is_stated_in_one_place() -> None:
    """The distribution reads its version from the package, and what is installed says the same."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    assert project["project"]["dynamic"] == ["readme", "version"]
    assert project["tool"]["hatch"]["version"]["path"] == "wrapper/itwin_platform/_version.py"
    assert importlib.metadata.version("itwin-platform") == itwin_platform.__version__


def test_the_example_service_asks_for_what_the_client_needs() -> None:
    """The service that the client is vendored into requires the same, in the same words."""
    with (PROJECT / "examples" / "vendored_service" / "pyproject.toml").open("rb") as file:
        asked = tomllib.load(file)["project"]["dependencies"]
    assert [requirement for requirement in distribution.declared() if requirement not in asked] == []


def _name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)
