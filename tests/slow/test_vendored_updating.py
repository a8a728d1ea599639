"""A second `make vendor` updates the copy, and overwrites edited files only with `--overwrite`."""

from pathlib import Path

import pytest

from tests.support.processes import PROJECT
from tests.support.vendored import vendored
from tools.vendoring.vendor import revision
from tools.vendoring.vendored_copy import RECORD, digest, digests


def contents(package: Path) -> dict[str, bytes]:
    """Every file of a package by its path in it."""
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in package.rglob("*") if path.is_file()}


@pytest.fixture
def copy(tmp_path: Path, older_checkout: Path) -> Path:
    """A copy of the older version."""
    vendored(tmp_path, "itwin", project=older_checkout)
    return tmp_path / "itwin"


def test_second_run_changes_nothing(copy: Path, older_checkout: Path) -> None:
    """The same version again writes no file."""
    before = contents(copy)
    output = vendored(copy.parent, "itwin", project=older_checkout)
    assert contents(copy) == before
    assert "itwin is itwin-platform 0.0.1: 0 of" in output[0]


def test_newer_version_replaces_the_older(copy: Path, tmp_path: Path) -> None:
    """After an update the copy is what a fresh copy of the new version is."""
    vendored(copy.parent, "itwin")
    vendored(tmp_path / "fresh", "itwin")
    assert contents(copy) == contents(tmp_path / "fresh" / "itwin")


def test_module_that_is_gone_in_the_new_version_is_removed(copy: Path, older_checkout: Path) -> None:
    """A file that only the older version has does not stay behind."""
    module = older_checkout / "wrapper" / "itwin_platform" / "_only_here.py"
    module.write_text("")
    try:
        vendored(copy.parent, "itwin", project=older_checkout)
    finally:
        module.unlink()
    assert (copy / "_only_here.py").exists()
    vendored(copy.parent, "itwin")
    assert not (copy / "_only_here.py").exists()


def test_edits_are_named_and_nothing_is_overwritten(copy: Path) -> None:
    """Edited, removed and conflicting files are all named, and the copy is not changed."""
    (copy / "_http/gates/gate.py").write_text("edited")
    (copy / "generated" / "types.py").unlink()
    recorded = (copy / RECORD).read_text()
    (copy / RECORD).write_text("\n".join(line for line in recorded.splitlines() if not line.endswith("  _client.py")))
    (copy / "_client.py").write_text("somebody's own")
    before = contents(copy)
    with pytest.raises(SystemExit) as refused:
        vendored(copy.parent, "itwin")
    assert contents(copy) == before
    for line in (
        "edited: _http/gates/gate.py",
        "removed: generated/types.py",
        "in the way: _client.py",
        "OVERWRITE=yes",
    ):
        assert line in str(refused.value)


def test_edits_are_shown_as_a_difference(tmp_path: Path) -> None:
    """What was edited is shown against what was copied, so that it can be taken elsewhere."""
    if revision(PROJECT).startswith("unknown"):
        pytest.skip("not a git checkout")
    vendored(tmp_path, "itwin")
    module = tmp_path / "itwin" / "_version.py"
    module.write_text(module.read_text() + "EDITED = True\n")
    with pytest.raises(SystemExit, match=r"edited: _version\.py") as rejected:
        vendored(tmp_path, "itwin")
    assert "+++ edited/_version.py" in str(rejected.value)
    assert "+EDITED = True" in str(rejected.value)


def test_only_edits_are_shown_where_the_copy_was_not_committed(tmp_path: Path) -> None:
    """What differs from the recorded revision without an edit is not shown, and what cannot be shown is named."""
    if revision(PROJECT).startswith("unknown"):
        pytest.skip("not a git checkout")
    vendored(tmp_path, "itwin")
    package = tmp_path / "itwin"
    for name in ("_client.py", "_errors.py"):
        before = digest((package / name).read_bytes())
        (package / name).write_text("# as it was copied\n")
        record = (package / RECORD).read_text()
        (package / RECORD).write_text(record.replace(before, digest(b"# as it was copied\n")))
    (package / "_errors.py").write_text("# as it was edited\n")
    with pytest.raises(SystemExit, match=r"_errors\.py was copied before it was committed") as rejected:
        vendored(tmp_path, "itwin")
    assert "_client.py" not in str(rejected.value)


def test_edits_are_overwritten_with_the_option(copy: Path, tmp_path: Path) -> None:
    """`--overwrite` discards the edits, names them, and restores the complete copy."""
    (copy / "_http/gates/gate.py").write_text("edited")
    output = vendored(copy.parent, "itwin", overwrite=True)
    vendored(tmp_path / "fresh", "itwin")
    assert "overwritten, as requested: edited: _http/gates/gate.py" in output
    assert contents(copy) == contents(tmp_path / "fresh" / "itwin")


def test_files_of_ones_own_are_left_alone(copy: Path) -> None:
    """A file that the client does not have is neither an edit nor removed."""
    (copy / "_of_ours.py").write_text("ours")
    vendored(copy.parent, "itwin")
    assert (copy / "_of_ours.py").read_text() == "ours"


def test_run_that_was_broken_off_can_be_repeated(copy: Path) -> None:
    """A file that already is the new one is no edit, although the record still names the old one."""
    new = (PROJECT / "wrapper" / "itwin_platform" / "_version.py").read_bytes()
    (copy / "_version.py").write_bytes(new)
    vendored(copy.parent, "itwin")
    assert digests((copy / RECORD).read_text()).keys() <= contents(copy).keys()


def test_line_ends_of_windows_are_no_edit(copy: Path) -> None:
    """A checkout with other line ends can still be updated."""
    path = copy / "_http/gates/gate.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    vendored(copy.parent, "itwin")
    assert b"\r" not in path.read_bytes()


def test_folder_that_is_no_copy_is_rejected(tmp_path: Path) -> None:
    """A package that this command did not make is not touched, even with `--overwrite`."""
    (tmp_path / "itwin").mkdir()
    (tmp_path / "itwin" / "__init__.py").write_text("ours")
    with pytest.raises(SystemExit, match="is not a vendored copy: choose another NAME"):
        vendored(tmp_path, "itwin", overwrite=True)
    assert contents(tmp_path / "itwin") == {"__init__.py": b"ours"}


def test_record_that_names_a_path_outside_is_not_followed(copy: Path, tmp_path: Path) -> None:
    """A line in VENDORED.md with a path that leaves the copy removes nothing there."""
    outside = tmp_path / "outside.py"
    outside.write_text("stays")
    with (copy / RECORD).open("a") as record:
        record.write(f"\n{'0' * 64}  ../outside.py\n")
    vendored(copy.parent, "itwin", overwrite=True)
    assert outside.read_text() == "stays"
