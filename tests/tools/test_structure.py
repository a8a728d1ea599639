"""The folders, the imports of httpx, the count of code lines, and the changes of mutants."""

import re

import pytest

from tools.mutation.mutants import mutants_of
from tools.structure.ceilings import CEILINGS, exceeded
from tools.structure.lines import PARTS, PROJECT, TRANSPORT, WRAPPER, code_lines

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


PYTHON = '''"""A docstring
of two lines."""

import a  # with a comment


def f(
    b: int,
) -> None:
    """A docstring."""
    # A comment.
    a.g("""two
    lines""")
'''


@pytest.mark.parametrize(
    ("ending", "source", "count"),
    [
        (".py", PYTHON, 6),
        (".py", "", 0),
        (".lua", "-- a comment\n\nlocal a = 1 -- why\n", 1),
        (".jinja", "{# a comment #}\n{% if a %}\n\n{{ a }}\n", 2),
        (".json", "{}", 0),
    ],
)
def test_which_lines_are_code(ending: str, source: str, count: int) -> None:
    """Blank lines, comments and docstrings are no code, and neither is data."""
    assert code_lines(source, ending) == count


def test_a_part_above_its_ceiling_is_named() -> None:
    """The message says by how many lines, and where a ceiling is raised; each part has one."""
    (message,) = exceeded({"a": 1_205, "b": 7}, {"a": 1_200, "b": 7})
    assert message.startswith("a has 1,205 lines of code, 5 above its ceiling: remove code, or raise the ceiling in ")
    assert CEILINGS.keys() == PARTS.keys()


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["(a <= b)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("x = 1", ["pass", "x = 2"]),
        ("f(a, b=c)", ["(f(a))", "pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("a if b else c", ["(a)", "(c)", "a if False else c", "a if True else c"]),
        ("if a:\n    raise b", ["if False:\n    raise b", "if True:\n    raise b", "if a:\n    pass"]),
        ("f('x-name')", ["f('x-namex')", "pass"]),
        ("f('a message')", ["pass"]),
        ("'A docstring.'", []),
        ("x: 'Name'", []),
        ("é = f('ü')", ["pass", "é = f('üx')"]),
    ],
)
def test_the_changes_of_mutants(source: str, changed: list[str]) -> None:
    """Each mutant is the source with one change that a test can notice."""
    assert sorted(mutant.applied_to(source.encode()).decode() for mutant in mutants_of(source)) == sorted(changed)
