"""What docs/sandbox.md says is what the sandbox does."""

import re
from pathlib import Path

import pytest
from itwin_platform_sandbox import FAULTS

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sandbox.md").read_text()


def test_the_pasted_test_file_passes(pytester: pytest.Pytester) -> None:
    """The test file of the page passes as it is pasted, without any plugin but the package's own."""
    block = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    pytester.makepyfile(block[1])
    result = pytester.runpytest_subprocess("-W", "error", "-p", "no:asyncio", "-p", "no:pytest_httpx")
    result.assert_outcomes(passed=4)


def test_every_fault_is_told() -> None:
    """The page's table names each fault and says of it what the sandbox says."""
    told = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert told == {name: kind.does for name, kind in FAULTS.items()}
