"""What people copy follows the guides: the examples, the blocks of the pages, and the examples of docstrings."""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest

from tests.support.code_blocks import PAGES, PROJECT

_FENCED = re.compile(r"^( *)```py(?:thon)?\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
#: The shortest secret of a webhook that the guides allow.
SHORTEST = 32


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a text, those inside of others too."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def names(tree: ast.AST) -> set[str]:
    """The names that a piece of code uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def with_weak_secret(tree: ast.AST) -> Iterator[ast.AST]:
    """Calls that change a webhook without a secret, or with one that is shorter than the guides allow."""
    strings: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            literal = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            # A call, such as that of `token_urlsafe`, makes one that is long enough.
            if not any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
                length = sum(len(part) for part in literal if isinstance(part, str))
                strings.setdefault(node.targets[0].id, []).append(length)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="webhooks")), keywords=keywords):
                match {keyword.arg: keyword.value for keyword in keywords}.get("secret"):
                    case None:
                        yield node
                    case ast.Constant(value=str(secret)) if len(secret) < SHORTEST:
                        yield node
                    case ast.Name(id=name) if min(strings.get(name, [SHORTEST])) < SHORTEST:
                        yield node


def with_state_error_as_4xx(tree: ast.AST) -> Iterator[ast.AST]:
    """Functions that respond to a UsageError with a status for the caller's mistakes, and do not look at StateError."""
    for function in functions(tree):
        statuses = {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
        used = names(function)
        # 404 is for NotFoundError, and 499 for a browser that disconnects.
        if used & {"UsageError", "PlatformError"} and "StateError" not in used and statuses & {400, 409, 422}:
            yield function


def with_client_per_request(tree: ast.AST) -> Iterator[ast.AST]:
    """Routes and dependencies of a web service that make a client."""
    depended = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "Depends" in names(node.func)
        for argument in node.args
        for name in names(argument)
    }
    for function in functions(tree):
        decorators = {
            node.attr for each in function.decorator_list for node in ast.walk(each) if isinstance(node, ast.Attribute)
        }
        routed = decorators & {"get", "post", "put", "patch", "delete", "websocket", "middleware"}
        asked = {name for each in function.args.args if each.annotation for name in names(each.annotation)}
        if (routed or function.name in depended or "Request" in asked) and "PlatformClient" in {
            node.func.id
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }:
            yield function


def copied() -> Iterator[tuple[str, str]]:
    """Everything that people copy, by where it stands."""
    for path in sorted((PROJECT / "examples").rglob("*.py")):
        yield path.relative_to(PROJECT).as_posix(), path.read_text(encoding="utf-8")
    documented = [path for folder in ("wrapper", "transport", "sandbox") for path in (PROJECT / folder).rglob("*.py")]
    for path in [*PAGES, *sorted(documented)]:
        text = path.read_text(encoding="utf-8")
        for block in _FENCED.finditer(text):
            line = text.count("\n", 0, block.start(2)) + 1
            yield f"{path.relative_to(PROJECT).as_posix()}:{line}", textwrap.dedent(block[2])


COPIED = dict(copied())


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (with_weak_secret, "await platform.webhooks.activate(webhook_id)"),
        (with_weak_secret, "await platform.webhooks.update(webhook_id, secret='short')"),
        (with_weak_secret, "secret = 'short'\nawait platform.webhooks.update(webhook_id, secret=secret)"),
        (with_state_error_as_4xx, "def failed(_, error: UsageError):\n    return JSONResponse({}, 422)"),
        (with_client_per_request, "@app.get('/')\nasync def listed():\n    return PlatformClient()"),
        (with_client_per_request, "def client():\n    return PlatformClient()\nPlatform = Depends(client)"),
    ],
)
def test_copied_code_follows_the_guides(found: Callable[[ast.AST], Iterator[ast.AST]], wrong: str) -> None:
    """Copied code passes webhook secrets of 32 characters, blames no user for a closed client, and shares a client."""
    assert len(list(found(ast.parse(wrong)))) == 1
    assert len(COPIED) > 100
    assert [
        f"{place}: {ast.unparse(node)[:80]}" for place, text in COPIED.items() for node in found(ast.parse(text))
    ] == []
