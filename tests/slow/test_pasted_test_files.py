"""The test files that the pages show."""

import pytest

from tests.project.test_code_blocks import TEST_FILES, name_of
from tests.support.code_blocks import Block

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("block", TEST_FILES, ids=lambda block: f"{name_of(block.page)}:{block.line}")
def test_pasted_test_file_passes(block: Block, pytester: pytest.Pytester) -> None:
    """A test file of a page passes as it is pasted, without any plugin but the package's own and what it names."""
    pytester.makepyfile(block.text)
    others = ("asyncio",) if "httpx_mock" in block.text else ("asyncio", "pytest_httpx")
    result = pytester.runpytest_subprocess("-W", "error", *(f"-pno:{plugin}" for plugin in others))
    result.assert_outcomes(passed=block.text.count("\ndef test_"))
