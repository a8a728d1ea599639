"""The count of code lines, and the ceilings of the parts."""

import pytest

from tools.structure.ceilings import CEILINGS, exceeded
from tools.structure.lines import PARTS, code_lines

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
