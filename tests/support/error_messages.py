"""Every message that the wrapper can raise or warn with, read from its source.

`python -m tests.support.error_messages` writes them to tests/client/error_messages.txt.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
STORED = PROJECT / "tests" / "client" / "error_messages.txt"

#: What raises, or makes what is raised, besides the classes whose names end in Error or Warning.
_CALLS = re.compile(r"(Error|Warning|warn|_failed|_Failure|kind|decode_error|progress\.error)$")
#: Names under which the words of an error are put together.
_PARTS = {"reason", "what", "said", "advice"}
#: Functions that return the words of an error.
_REASONS = {"decide", "exceeded_limit"}


def messages() -> list[str]:
    """Return all messages; what is filled in stands in braces."""
    return sorted({text for path in WRAPPER.rglob("*.py") for text in _of(ast.parse(path.read_text(encoding="utf-8")))})


def _of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and _CALLS.search(ast.unparse(node.func)):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in _PARTS:
            values = [node.value]
        elif isinstance(node, ast.FunctionDef) and node.name in _REASONS:
            values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
        for value in values:
            yield from (text for text in _texts(value) if " " in text)


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [value.value if isinstance(value, ast.Constant) else _filled(value) for value in node.values]
        yield "".join(str(part) for part in parts)


def _filled(value: ast.expr) -> str:
    return "{" + ast.unparse(value.value if isinstance(value, ast.FormattedValue) else value) + "}"


if __name__ == "__main__":
    STORED.write_text("\n".join(messages()) + "\n", encoding="utf-8")
