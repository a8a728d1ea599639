"""What the folders hold, where httpx is named, and what a mutant changes."""

import ast
import re

import pytest

from tools.mutation.mutants import mutants_of
from tools.structure.lines import PROJECT, TRANSPORT, WRAPPER

MODULES = {
    path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8")
    for package in (WRAPPER, TRANSPORT)
    for path in package.rglob("*.py")
}


def test_httpx_is_named_where_the_decision_says() -> None:
    """httpx is imported by the modules that the decision on a second HTTP library lists, each with its reason."""
    record = (PROJECT / "docs" / "decisions" / "second-http-library.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `([\w/.]+)` \| \S", record, re.MULTILINE)
    found = [name for name, source in MODULES.items() if re.search(r"^(import|from) httpx\b", source, re.MULTILINE)]
    assert sorted(documented) == sorted(found)


def test_every_folder_says_what_belongs_in_it() -> None:
    """Each package begins with a docstring, also a private one, of which linters ask none."""
    folders = {name: source for name, source in MODULES.items() if name.endswith("__init__.py")}
    assert [name for name, source in folders.items() if not ast.get_docstring(ast.parse(source))] == []
    assert len(folders) > 5


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["(a <= b)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("x = 1", ["pass", "x = 2"]),
        ("x = True", ["pass", "x = False"]),
        ("f(a, b=c)", ["(f(a))", "pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("a if b else c", ["(a)", "(c)", "a if False else c", "a if True else c"]),
        ("if a:\n    raise b", ["if False:\n    raise b", "if True:\n    raise b", "if a:\n    pass"]),
        ("[a for a in b if c]", ["[a for a in b if False]", "[a for a in b if True]"]),
        ("f('x-name')", ["f('x-namex')", "pass"]),
        ("f(b'')", ["f(b'x')", "pass"]),
        ("f('a message')", ["pass"]),
        ("'A docstring.'", []),
        ("import a", []),
        ("__all__ = ['a']", []),
        ("T: type = TypeVar('T')", []),
        ("T: type = Literal['a']", []),
        ("x: 'Name'", []),
        ("é = f('ü')", ["pass", "é = f('üx')"]),
    ],
)
def test_what_a_mutant_changes(source: str, changed: list[str]) -> None:
    """Each mutant is the source with one change of what runs, at which a test could notice it."""
    assert sorted(mutant.applied_to(source.encode()).decode() for mutant in mutants_of(source)) == sorted(changed)
