"""Building twice gives the same bytes, so anybody can check a published file against its revision."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def digests(folder: Path) -> dict[str, str]:
    """Build the sdist and the wheel into a folder and return the digest of each."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # our own command
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_the_sdist_holds_what_make_check_reads(tmp_path: Path) -> None:
    """Every file of the checkout that git tracks is in the sdist, except what only git itself needs."""
    command = [shutil.which("git") or "git", "ls-files"]
    listed = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)  # noqa: S603  # our own
    tracked = listed.stdout.split()
    digests(tmp_path)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in tracked if name not in held] == []


def test_two_builds_are_equal(tmp_path: Path) -> None:
    """The sdist and the wheel of one revision are the same, byte by byte."""
    first, second = digests(tmp_path / "first"), digests(tmp_path / "second")
    assert len(first) == 2
    assert first == second
