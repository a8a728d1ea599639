"""Type checkers report each mistake of mistakes.py, and accept the code of the pages."""

import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.code_blocks import PAGES, PROJECT, blocks_of, is_prelude, make_service
from tests.support.processes import ended

pytest.importorskip("basedpyright", reason="a tool of the checkout, which environments of the wheel are without")

MISTAKES = PROJECT / "tests" / "project" / "typing" / "mistakes.py"
#: In `make types`, mypy, pyright and basedpyright report each `type: ignore` that they do not need.
CHECKERS = {
    "ty": ["ty", "check", "--python", sys.prefix],
    "pyrefly": ["pyrefly", "check", "--preset", "strict", "--python-interpreter-path", sys.executable],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_mistake_is_reported(checker: str, tmp_path: Path) -> None:
    """A type checker reports every wrong line of mistakes.py, and no other line."""
    path, lines = tmp_path / MISTAKES.name, MISTAKES.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.partition("  # type: ignore")[0] for line in lines), encoding="utf-8")
    process = ended(*CHECKERS[checker], path, folder=tmp_path, status=None)
    reported = {int(number) for number in re.findall(rf"{MISTAKES.name}:(\d+)", process.stdout)}
    assert reported == {number for number, line in enumerate(lines, 1) if "  # type: ignore" in line}


#: It imports an operation that the page has just generated.
OF_A_MADE_UP_OPERATION = "docs/regenerating.md"
FOLDERS = [str(PROJECT / name) for name in ("wrapper", "generated", "sandbox")]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module for each page, and for each program or test file in it, and the vendored copy of one."""
    folder = tmp_path_factory.mktemp("application")
    make_service(folder)
    (prelude,) = [block for block in blocks_of(PROJECT / "docs" / "quickstart.md", "python") if is_prelude(block)]
    for page in PAGES:
        name = page.relative_to(PROJECT).as_posix()
        if name == OF_A_MADE_UP_OPERATION:
            continue
        module, typed = name.removesuffix(".md").replace("/", "_").replace("-", "_"), list[str]()
        for block in blocks_of(page, "python"):
            if "asyncio.run(" in block.text:
                (folder / f"{module}_{block.line}.py").write_text(block.text, encoding="utf-8")
            elif not is_prelude(block):
                typed.append(block.text)
        if typed:
            # In functions, because `await` stands alone in `python -m asyncio` only.
            blocks = textwrap.indent("\n".join(typed), "    ")
            body = textwrap.indent(f"{prelude.text}\nasync def blocks() -> None:\n{blocks}", "    ")
            text = f"import asyncio\n\n\nasync def page() -> None:\n{body}"
            (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return folder


def test_mypy_accepts_the_code_of_the_pages(application: Path) -> None:
    """`mypy --strict` accepts the code of the pages; a page may define a name twice."""
    modules = [path.name for path in sorted(application.glob("*.py"))]
    options = ["--strict", "--config-file=", "--allow-redefinition", "--disable-error-code=no-redef"]
    command = ["mypy", *options, "--explicit-package-bases", *modules]
    process = ended(*command, folder=application, variables={"MYPYPATH": os.pathsep.join(FOLDERS)}, status=None)
    assert process.stdout == f"Success: no issues found in {len(modules)} source files\n"
