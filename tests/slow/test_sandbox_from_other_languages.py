"""Programs in other languages start the sandbox, call it and control it, as the page shows."""

import shutil
from pathlib import Path

import pytest

from tests.support.other_languages import block
from tests.support.processes import ended


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js is installed")
def test_the_tests_in_javascript_pass(tmp_path: Path) -> None:
    """Node.js runs the file as it stands on the page."""
    (tmp_path / "sandbox.test.mjs").write_text(block("Use JavaScript", "js"), encoding="utf-8")
    assert "# pass 2" in ended("node", "--test", "--test-reporter=tap", folder=tmp_path).stdout


@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK is installed")
def test_the_program_in_java_succeeds(tmp_path: Path) -> None:
    """Java runs the file as it stands on the page, with its assertions."""
    (tmp_path / "SandboxTest.java").write_text(block("Use Java", "java"), encoding="utf-8")
    ended("java", "-ea", "SandboxTest.java", folder=tmp_path)
