"""Find the code blocks of the pages, and run them as a reader would.

The blocks of a page run one after the other, as in `python -m asyncio`, which allows `await` outside of functions.
A block of `docs/quickstart.md` runs first: it defines the names `sandbox`, `platform`, `itwin_id` and so on. A `text`
block right behind a Python block is the expected output; `...` in it matches anything.

sybil and pytest-examples support neither `await` outside of functions nor the comparison with the next block.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_transport import UsageError

from tools.vendoring.vendor import vendor

PROJECT = Path(__file__).resolve().parents[2]
README = PROJECT / "README.md"
PAGES = [*sorted((PROJECT / "docs").rglob("*.md")), README]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its text, its first line, and its expected output."""

    page: Path
    line: int
    text: str
    printed: str | None = None


def blocks_of(page: Path, language: str) -> list[Block]:
    """Return the blocks of a page in a language."""
    text = page.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(text))
    found: list[Block] = []
    for number, fence in enumerate(fences):
        following = fences[number + 1] if number + 1 < len(fences) else None
        adjacent = following is not None and not text[fence.end() : following.start()].strip()
        printed = following[2] if following is not None and adjacent and following[1] == "text" else None
        if fence[1] == language:
            line = text.count("\n", 0, fence.start(2)) + 1
            found.append(Block(page=page, line=line, text=fence[2], printed=printed))
    return found


def make_service(folder: Path) -> None:
    """Make the package of the page about vendoring, with a vendored client."""
    copied = folder / "my_service" / "_vendor"
    copied.parent.mkdir()
    (copied.parent / "__init__.py").touch()
    vendor(project=PROJECT, destination=copied, name="itwin", overwrite=False, command="make vendor")


class Console:
    """Runs code blocks one after the other in one namespace and one event loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._names: dict[str, Any] = {"__name__": "__main__", "asyncio": asyncio}
        (prelude,) = [block for block in blocks_of(PROJECT / "docs" / "quickstart.md", "python") if is_prelude(block)]
        self.run(prelude)
        self._offered = {name: value for name, value in self._names.items() if not name.startswith("_")}

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox that the blocks call."""
        sandbox: Sandbox = self._names["sandbox"]
        return sandbox

    def run(self, block: Block) -> None:
        """Run a block, call the coroutine functions that it defines, and compare its output."""
        known = dict(self._names)
        output = io.StringIO()
        # The blank lines make a traceback name the line of the page.
        source = "\n" * (block.line - 1) + block.text
        code = compile(source, str(block.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with contextlib.redirect_stdout(output):
            result = eval(code, self._names)  # noqa: S307  # the code of our own page
            if inspect.iscoroutine(result):
                self._runner.run(result)
            for value in [value for name, value in self._names.items() if known.get(name) is not value]:
                self._call(value, refused="# wrong: UsageError" in block.text)
        if block.printed is not None:
            assert_printed(output.getvalue(), block.printed)

    def _call(self, function: object, *, refused: bool) -> None:
        if not inspect.iscoroutinefunction(function):
            return
        wanted = inspect.signature(function).parameters
        if wanted and wanted.keys() <= self._offered.keys():
            with pytest.raises(UsageError) if refused else contextlib.nullcontext():
                self._runner.run(function(**{name: self._offered[name] for name in wanted}))

    def close(self) -> None:
        """Close the sandbox, the client and the event loop."""
        self._runner.run(self._offered["stack"].aclose())
        self._runner.close()


def is_prelude(block: Block) -> bool:
    """Return whether a block defines the names that all pages use."""
    return "AsyncExitStack" in block.text


def assert_printed(output: str, expected: str) -> None:
    """Check that an output is the one of the page, where `...` matches anything."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, output.strip(), re.DOTALL), f"printed:\n{output}\nexpected:\n{expected}"
