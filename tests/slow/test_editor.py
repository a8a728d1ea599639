"""What an editor shows while an application is written, and what type checkers say of the code of the pages."""

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.code_blocks import PAGES, PROJECT, blocks_of, is_prelude
from tests.support.processes import ended
from tools.vendoring.vendor import vendor

pytest.importorskip("basedpyright", reason="a tool of the checkout, which environments of the wheel are without")


#: It imports what the page has just generated.
OF_A_MADE_UP_OPERATION = "docs/regenerating.md"
FOLDERS = [str(PROJECT / name) for name in ("wrapper", "generated", "sandbox")]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module for each page, and for each program or test file in it, and the vendored copy of one."""
    folder = tmp_path_factory.mktemp("application")
    (folder / "my_service").mkdir()
    (folder / "my_service" / "__init__.py").touch()
    copied = folder / "my_service" / "_vendor"
    vendor(project=PROJECT, destination=copied, name="itwin", overwrite=False, command="make vendor")
    (prelude,) = [block for block in blocks_of(PROJECT / "docs" / "quickstart.md", "python") if is_prelude(block)]
    for page in PAGES:
        name = page.relative_to(PROJECT).as_posix()
        if name == OF_A_MADE_UP_OPERATION:
            continue
        module, typed = name.removesuffix(".md").replace("/", "_").replace("-", "_"), [prelude.text]
        for block in blocks_of(page, "python"):
            if "asyncio.run(" in block.text:
                (folder / f"{module}_{block.line}.py").write_text(block.text, encoding="utf-8")
            elif not is_prelude(block):
                typed.append(block.text)
        # In functions, because `await` stands alone in `python -m asyncio` only.
        blocks = textwrap.indent("\n".join(typed[1:]) or "pass", "    ")
        body = textwrap.indent(f"{prelude.text}\nasync def blocks() -> None:\n{blocks}", "    ")
        (folder / f"{module}.py").write_text(f"import asyncio\n\n\nasync def page() -> None:\n{body}", encoding="utf-8")
    return folder


def said(folder: Path, *command: str) -> str:
    """Run a tool in the folder, and return what it says."""
    process = ended(*command, folder=folder, variables={"MYPYPATH": os.pathsep.join(FOLDERS)}, status=None)
    return process.stdout + process.stderr


def test_mypy_accepts_the_code_of_the_pages(application: Path) -> None:
    """Strictly, as an application of a reader who pastes it; a page may define a name again."""
    modules = [path.name for path in sorted(application.glob("*.py"))]
    options = ["--strict", "--config-file=", "--allow-redefinition", "--disable-error-code=no-redef"]
    output = said(application, "mypy", *options, "--explicit-package-bases", *modules)
    assert output == f"Success: no issues found in {len(modules)} source files\n"


def test_pyright_accepts_the_code_of_the_pages(application: Path) -> None:
    """In its standard mode, as most editors run it."""
    settings = {"include": ["*.py"], "extraPaths": FOLDERS, "pythonVersion": "3.11", "typeCheckingMode": "standard"}
    (application / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    output = said(application, "basedpyright", "--level", "error", "--pythonpath", sys.executable)
    assert output == "0 errors, 0 warnings, 0 notes\n"
