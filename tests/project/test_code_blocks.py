"""Every Python block of the pages runs against the sandbox."""

import ast
import codeop
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from itwin_platform import Pager, PlatformClient, escape
from itwin_platform_sandbox import Sandbox

from tests.support.code_blocks import PAGES, PROJECT, README, Block, Console, blocks_of, is_prelude, make_service
from tests.support.public_face import CALLABLES, GROUPS
from tests.support.sandboxes import variables_of

pytest_plugins = ["pytester"]

#: The Python of this page is about an operation that is made up: tests/slow/test_walk.py carries it out.
WALK = "docs/regenerating.md"


def name_of(page: Path) -> str:
    """How a page is called in a checkout."""
    return page.relative_to(PROJECT).as_posix()


def is_test_file(block: Block) -> bool:
    """A block that is to be pasted into a file of tests is run by pytest."""
    return re.search(r"^import (pytest|unittest)$", block.text, re.MULTILINE) is not None


WITH_PROGRAMS = [page for page in PAGES if blocks_of(page, "python") and name_of(page) != WALK]
TEST_FILES = [block for page in PAGES for block in blocks_of(page, "python") if is_test_file(block)]


@pytest.fixture
def served(itwin_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox that the three environment variables of the quickstart name."""
    for name, value in variables_of(itwin_sandbox).items():
        monkeypatch.setenv(name, value)
    return itwin_sandbox


@pytest.fixture
def console() -> Iterator[Console]:
    """A reader's console, closed behind the test."""
    console = Console()
    yield console
    console.close()


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=name_of)
def test_code_of_a_page_runs(
    page: Path, console: Console, served: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page run in order after those of the quickstart, and print the output that the page shows."""
    if "my_service._vendor" in page.read_text(encoding="utf-8"):
        make_service(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        for name in [name for name in sys.modules if name.split(".")[0] == "my_service"]:
            monkeypatch.delitem(sys.modules, name)
    for block in blocks_of(page, "python"):
        if not is_test_file(block) and not is_prelude(block):
            console.run(block)
    if page == README:
        assert {request.status for request in served.requests} == {200}


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=name_of)
def test_code_of_a_page_can_be_pasted(page: Path) -> None:
    """`python -m asyncio`, which ends a statement at a blank line, takes each block that is not a program or a test."""
    for block in blocks_of(page, "python"):
        if is_test_file(block) or "asyncio.run(" in block.text:
            continue
        compiled = codeop.CommandCompiler()
        compiled.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        typed: list[str] = []
        for line in [*block.text.splitlines(), ""]:
            typed.append(line)
            if compiled("\n".join(typed), name_of(page), "single") is not None:
                typed = []
        assert typed == []


OPERATIONS = [method for name, method in CALLABLES.items() if name.partition(".")[0] in GROUPS]
#: Other functions and classes with an example.
OTHERS = [Pager, PlatformClient, PlatformClient.with_options, escape]


@pytest.mark.parametrize("operation", [*OPERATIONS, *OTHERS], ids=lambda operation: operation.__qualname__)
def test_the_example_of_a_docstring_runs(operation: Callable[..., object], console: Console) -> None:
    """Each operation shows in its docstring how to call it, and the service accepts that call."""
    fenced = re.compile(r"^Example:\n    ```python\n(.+?)^    ```", re.MULTILINE | re.DOTALL)
    example = fenced.search(inspect.getdoc(operation) or "")
    assert example is not None
    text = "from itwin_platform import *\n" + textwrap.dedent(example[1])
    console.run(Block(page=Path(inspect.getfile(operation)), line=1, text=text))
    assert all(request.status is not None and request.status < 300 for request in console.sandbox.requests)
