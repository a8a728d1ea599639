"""Imports go down from folder to folder, decisions know neither network nor clock, and mutants change what runs."""

import ast
import re

import pytest
from tests.support.faces import module_of

from tests.support.public_face import GROUPS
from tools.mutation.mutants import mutants_of
from tools.structure.imports import MODULES, RANK, circles, folder, imported, own, upward
from tools.structure.lines import PROJECT, WRAPPER

#: What is defined in modules that decide: they receive time, sleep and randomness as arguments.
PURE = ("BackoffPolicy", "Window", "AttemptEnded", "Run", "next_query", "write_resume")
WORLD = {"httpx", "httpcore", "httptools", "asyncio", "anyio", "socket", "ssl", "time", "random", "secrets", "redis"}


def roots(module: str) -> set[str]:
    """The packages that a module of the wrapper imports from."""
    return {name.partition(".")[0] for name in imported(module)}


def test_imports_go_down() -> None:
    """Every folder and first-level module has a rank; no module imports from above, and no group another group."""
    assert {folder(module) for module in MODULES if module != "__init__"} == RANK.keys()
    assert upward() == []
    groups = {f"_operations/{group}" for group in GROUPS}
    assert {group: groups & own(group) for group in groups if groups & own(group)} == {}


def test_no_import_closes_a_circle() -> None:
    """No module of the repository imports itself by way of others."""
    assert circles() == []


def test_decisions_neither_send_nor_wait() -> None:
    """Modules that decide import no HTTP, no event loop, no clock and no randomness."""
    modules = {module_of(name).__name__.partition(".")[2].replace(".", "/") for name in PURE}
    assert {module: roots(module) & WORLD for module in modules if roots(module) & WORLD} == {}


def test_http_does_not_know_the_generated_package() -> None:
    """Nothing in `_http` imports the generated package."""
    assert [each for each in MODULES if each.startswith("_http") and "itwin_platform_api" in roots(each)] == []


def test_httpx_is_named_where_the_decision_says() -> None:
    """httpx is imported by the modules that the decision on a second HTTP library lists, each with its reason."""
    record = (PROJECT / "docs" / "decisions" / "second-http-library.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(_[\w/]+)` \| \S", record, re.MULTILINE)
    assert sorted(documented) == sorted(module for module in MODULES if "httpx" in roots(module))


def test_generated_code_does_not_know_the_wrapper() -> None:
    """The generated package imports nothing of the hand-written layer."""
    for path in (PROJECT / "generated").rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(str(node.module).partition(".")[0])
        assert not names & {"itwin_platform", "itwin_platform_sandbox"}, path


def test_every_folder_says_what_belongs_in_it() -> None:
    """Each package begins with a docstring, also a private one, of which linters ask none."""
    for path in WRAPPER.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["(a <= b)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("x = 1", ["x = 2"]),
        ("x = True", ["x = False"]),
        ("f(a, b=c)", ["(f(a))", "pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("a if b else c", ["(a)", "(c)"]),
        ("x = 'name'", ["x = 'namex'"]),
        ("x = 'a message'", []),
        ("'A docstring.'", []),
        ("import a", []),
        ("__all__ = ['a']", []),
        ("T = TypeVar('T')", []),
        ("T = Literal['a']", []),
        ("x: 'Name'", []),
        ("é = 'ü'\nx = 1", ["é = 'ü'\nx = 2", "é = 'üx'\nx = 1"]),
    ],
)
def test_what_a_mutant_changes(source: str, changed: list[str]) -> None:
    """Each mutant is the source with one change of what runs, at which a test could notice it."""
    assert sorted(mutant.applied_to(source.encode()).decode() for mutant in mutants_of(source)) == sorted(changed)
