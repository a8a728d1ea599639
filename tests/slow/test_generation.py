"""Generating is the same everywhere, and what is committed is what is generated."""

import filecmp
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended
from tools.release.clean_environment import Environment, pythons

#: What generating needs: the generator, what checks the document, and what the generated modules import.
NEEDED = (
    "openapi-python-client",
    "openapi-spec-validator",
    "ruff",
    "PyYAML",
    "httpx",
    "attrs",
    "msgspec",
    "python-dateutil",
)
COMMITTED = PROJECT / "generated" / "itwin_platform_api"
HOSTILE = 'line-length = 60\nindent-width = 2\n[lint]\nselect = ["ALL"]\n[format]\nquote-style = "single"\n'


#: Another machine: no locale, so that files are ASCII unless it is said otherwise, another time, other hashes.
ELSEWHERE = {
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "TZ": "Asia/Kathmandu",
    "PYTHONHASHSEED": "7",
}


def generate(
    folder: Path, *arguments: str, umask: int = -1, python: str | Path = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the tool with every temporary file below a folder."""
    command = [python, "-m", "tools.generation.generate", *arguments]
    return ended(*command, variables={"TMPDIR": str(folder), **environment}, umask=umask, status=None)


def files(root: Path) -> set[str]:
    """The files of a package, without what Python leaves there."""
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose ruff configuration would write everything otherwise."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "ruff.toml").write_text(HOSTILE)
    return folder


@pytest.fixture(scope="module")
def twice(hostile: Path) -> tuple[Path, Path]:
    """The package generated two times below that folder, the second time as on another machine."""
    for name, umask, environment in (("one", -1, {}), ("two", 0o077, ELSEWHERE)):
        process = generate(hostile, "--into", str(hostile / name), umask=umask, **environment)
        assert process.returncode == 0, process.stderr
    return hostile / "one" / "itwin_platform_api", hostile / "two" / "itwin_platform_api"


def test_two_runs_give_the_same_bytes(twice: tuple[Path, Path]) -> None:
    """Nothing depends on the run, on a ruff configuration above the folder, or on what was there before.

    Nor on the locale, the umask, the time zone and the seed of hashes.
    """
    for made in twice:
        assert files(made) == files(COMMITTED)
        match, mismatch, errors = filecmp.cmpfiles(COMMITTED, made, sorted(files(COMMITTED)), shallow=False)
        assert (mismatch, errors) == ([], [])
        assert match


def test_another_python_gives_the_same_bytes(tmp_path: Path) -> None:
    """The newest other Python of this machine generates what is committed, with the pinned generator."""
    others = [python for python in pythons() if python.version[:2] != sys.version_info[:2]]
    if not others:
        pytest.skip(
            "this machine has one Python from 3.11 on: `make test-all-pythons` uses those of pyenv and the PATH"
        )
    try:
        environment = Environment(tmp_path / "environment", python=others[-1].path)
        environment.install(*NEEDED, constraints=PROJECT / "constraints.txt")
    except SystemExit as failure:
        pytest.skip(f"pip cannot install the generator for Python {others[-1]}: {failure}")
    process = generate(tmp_path, "--check", python=environment.python)
    assert process.returncode == 0, process.stderr


def test_a_run_leaves_nothing_else_behind(twice: tuple[Path, Path], hostile: Path) -> None:
    """Neither a cache nor a temporary folder."""
    assert twice
    assert {path.name for path in hostile.iterdir()} == {"ruff.toml", "one", "two"}
    assert not [path for path in hostile.rglob(".*") if path.is_dir()]


def test_an_edit_by_hand_is_named(tmp_path: Path) -> None:
    """`--check` fails for a changed, a missing and an added file, names them, and writes nothing."""
    package = Path(shutil.copytree(COMMITTED, tmp_path / COMMITTED.name, ignore=shutil.ignore_patterns("__pycache__")))
    (package / "types.py").write_text("# edited\n")
    (package / "errors.py").unlink()
    (package / "added.py").write_text("")
    process = generate(tmp_path, "--check", "--into", str(tmp_path))
    assert process.returncode == 1
    named = {line.rpartition(" ")[2] for line in process.stderr.splitlines() if line.endswith(".py")}
    assert named == {"types.py", "errors.py", "added.py"}
    assert (package / "types.py").read_text() == "# edited\n"
    assert not (package / "errors.py").exists()


def test_a_specification_that_is_rejected_changes_nothing(tmp_path: Path) -> None:
    """A warning of the generator ends the run, and the old package stays."""
    (tmp_path / "wrong.yaml").write_text(
        "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {get: {responses: {x: {}}}}}\n"
    )
    package = tmp_path / "itwin_platform_api"
    package.mkdir()
    (package / "kept.py").write_text("")
    process = generate(tmp_path, "--spec", str(tmp_path / "wrong.yaml"), "--into", str(tmp_path))
    assert process.returncode != 0
    assert "wrong.yaml" in process.stderr
    assert files(package) == {"kept.py"}
