"""What type checkers say of mistakes: an error for each, and none where a value that may be absent was looked at."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MISTAKES = Path(__file__).resolve().parents[1] / "project" / "typing" / "mistakes.py"
SCRIPTS = Path(sys.executable).parent
MISUSE = """
import itwin_platform as ip


def year(itwin: ip.ITwin) -> int:
    return itwin.created_date_time.year
"""
USE = MISUSE.replace("return ", "assert isinstance(itwin.created_date_time, datetime)\n    return ").replace(
    "\nimport", "\nfrom datetime import datetime\n\nimport", 1
)
CHECKERS = {
    "mypy": ["mypy", "--strict"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
    "basedpyright": ["basedpyright", "--level", "error", "--pythonpath", sys.executable],
    "ty": ["ty", "check", "--python", str(SCRIPTS.parent)],
    "pyrefly": ["pyrefly", "check", "--preset", "strict", "--python-interpreter-path", sys.executable],
}


def checked(path: Path, checker: str) -> subprocess.CompletedProcess[str]:
    """Check a program; pyright does not look for a newer version of itself."""
    tool, *options = CHECKERS[checker]
    settings = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [str(SCRIPTS / tool), *options, str(path)]
    return subprocess.run(command, cwd=path.parent, env=settings, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_value_that_may_be_absent_must_be_looked_at(checker: str, tmp_path: Path) -> None:
    """Each type checker reports an attribute of `datetime | Unset`, and accepts it after `isinstance`."""
    for name, code in (("misuse.py", MISUSE), ("use.py", USE)):
        path = tmp_path / name
        path.write_text(code)
        ended = checked(path, checker)
        assert (ended.returncode == 0) is (name == "use.py"), ended.stdout + ended.stderr
        assert ("year" in ended.stdout) is (name == "misuse.py"), ended.stdout


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_mistake_is_reported(checker: str, tmp_path: Path) -> None:
    """Every line of mistakes.py that is wrong is wrong for each of them, and no other line."""
    path, lines = tmp_path / MISTAKES.name, MISTAKES.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.partition("  # type: ignore")[0] for line in lines), encoding="utf-8")
    reported = {int(number) for number in re.findall(rf"{MISTAKES.name}:(\d+)", checked(path, checker).stdout)}
    assert reported == {number for number, line in enumerate(lines, 1) if "  # type: ignore" in line}
