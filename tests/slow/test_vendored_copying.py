"""What `make vendor` copies, changes and records, and what it rejects."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.vendored import PROJECT, vendored
from tools.vendoring.vendored_copy import RECORD, absolute_imports, digests, source

WRAPPER = PROJECT / "wrapper" / "itwin_platform"
GENERATED = PROJECT / "generated" / "itwin_platform_api"


def files(package: Path) -> dict[str, bytes]:
    """Every file of a package by its path in it."""
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_only_the_seam_changes(tmp_path: Path) -> None:
    """Each module of the wrapper and of the generated package is copied byte by byte, but the seam."""
    vendored(tmp_path, "itwin")
    copied, wrapper, generated = files(tmp_path / "itwin"), files(WRAPPER), files(GENERATED)
    changed = {name for name in wrapper if copied[name] != wrapper[name]}
    changed |= {
        name for name, content in generated.items() if name != "README.md" and copied[f"generated/{name}"] != content
    }
    assert changed == {"_api.py"}
    assert set(copied) - set(wrapper) - {f"generated/{name}" for name in generated} == {RECORD, "LICENSE"}


def test_no_import_of_the_old_names_remains(tmp_path: Path) -> None:
    """No module of a copy imports the client or the generated package by its old, absolute name."""
    vendored(tmp_path, "itwin")
    assert absolute_imports(files(tmp_path / "itwin")) == []
    relative = [
        node.module or "".join(alias.name for alias in node.names)
        for node in ast.walk(ast.parse((tmp_path / "itwin" / "_api.py").read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.level == 1
    ]
    assert relative != []
    assert [module for module in relative if module.partition(".")[0] != "generated"] == []


def test_another_module_that_names_the_old_packages_is_rejected(older_checkout: Path, tmp_path: Path) -> None:
    """A wrapper in which another module than the seam names the packages is not copied, and the line is named."""
    module = older_checkout / "wrapper" / "itwin_platform" / "_astray.py"
    module.write_text("import json\nfrom itwin_platform_api.types import UNSET\n")
    try:
        with pytest.raises(SystemExit, match=r"_astray\.py:2 imports itwin_platform_api\.types"):
            vendored(tmp_path, "itwin", project=older_checkout)
    finally:
        module.unlink()
    assert list(tmp_path.iterdir()) == []


def test_record_says_version_revision_command_and_needs(tmp_path: Path) -> None:
    """VENDORED.md says what was copied, from where, how, what it needs, and each file with its digest."""
    vendored(tmp_path, "itwin", command="make vendor DEST=somewhere NAME=itwin")
    copied = source(PROJECT, revision="")
    text = (tmp_path / "itwin" / RECORD).read_text()
    git = ["git", "-C", str(PROJECT), "rev-parse", "HEAD"]
    head = subprocess.run(git, capture_output=True, text=True, check=False)  # noqa: S603 - asks git where we are
    assert f"| version | {copied.version} |" in text
    assert f"| source revision | {head.stdout.strip() or 'unknown: not a git checkout'}" in text
    assert "`make vendor DEST=somewhere NAME=itwin`" in text
    assert [line[3:-1] for line in text.splitlines() if line.startswith("- `")] == list(copied.needs)
    assert set(digests(text)) == set(copied.files)


def test_source_that_is_no_git_checkout_is_said_to_be_none(older_checkout: Path, tmp_path: Path) -> None:
    """A copy made from an unpacked sdist records that its revision is not known."""
    vendored(tmp_path, "itwin", project=older_checkout)
    assert "| source revision | unknown: not a git checkout |" in (tmp_path / "itwin" / RECORD).read_text()


@pytest.mark.parametrize("name", ["my-client", "class", "9lives", ""])
def test_name_that_cannot_be_imported_is_rejected(tmp_path: Path, name: str) -> None:
    """A name that no import statement can say is refused before anything is written."""
    with pytest.raises(SystemExit, match="cannot be imported"):
        vendored(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_folder_within_a_package_becomes_a_package(tmp_path: Path) -> None:
    """`_vendor` within a package gets its `__init__.py`, and the import line names the whole way."""
    (tmp_path / "my_service").mkdir()
    (tmp_path / "my_service" / "__init__.py").touch()
    told = vendored(tmp_path / "my_service" / "_vendor", "itwin")
    assert (tmp_path / "my_service" / "_vendor" / "__init__.py").read_text() == ""
    assert "import it with: from my_service._vendor.itwin import PlatformClient" in told


def test_command_copies(tmp_path: Path) -> None:
    """The command behind the make target copies, and records itself."""
    command = [sys.executable, "-m", "tools.vendoring.vendor", str(tmp_path / "new"), "itwin"]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)  # noqa: S603 - our own tool
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"`make vendor DEST={tmp_path / 'new'} NAME=itwin`" in (tmp_path / "new" / "itwin" / RECORD).read_text()
