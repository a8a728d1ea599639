"""What type checkers say of a value that may be absent: an error where it is used, and none where it was looked at."""

import subprocess
import sys
from pathlib import Path

import pytest

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
    "pyright": ["basedpyright", "--level", "error", "--pythonpath", sys.executable],
    "ty": ["ty", "check", "--python", str(SCRIPTS.parent)],
    "pyrefly": ["pyrefly", "check", "--preset", "strict", "--python-interpreter-path", sys.executable],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_value_that_may_be_absent_must_be_looked_at(checker: str, tmp_path: Path) -> None:
    """Each type checker reports an attribute of `datetime | Unset`, and accepts it after `isinstance`."""
    for name, code in (("misuse.py", MISUSE), ("use.py", USE)):
        path = tmp_path / name
        path.write_text(code)
        tool, *options = CHECKERS[checker]
        command = [str(SCRIPTS / tool), *options, str(path)]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
        assert (ended.returncode == 0) is (name == "use.py"), ended.stdout + ended.stderr
        assert ("year" in ended.stdout) is (name == "misuse.py"), ended.stdout
