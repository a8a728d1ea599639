"""Mutation testing changes what runs, one place at a time, and nothing that no test could notice."""

import pytest

from tools.mutation.mutants import mutants_of


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
        ("x = 'name'", ["x = 'name_'"]),
        ("x = 'a message'", []),
        ("'A docstring.'", []),
        ("import a", []),
        ("__all__ = ['a']", []),
        ("T = TypeVar('T')", []),
        ("T = Literal['a']", []),
        ("x: 'Name'", []),
        ("é = 'ü'\nx = 1", ["é = 'ü'\nx = 2", "é = 'ü_'\nx = 1"]),
    ],
)
def test_what_is_changed(source: str, changed: list[str]) -> None:
    """Each mutant is the source with one change."""
    assert sorted(mutant.applied_to(source.encode()).decode() for mutant in mutants_of(source)) == sorted(changed)
