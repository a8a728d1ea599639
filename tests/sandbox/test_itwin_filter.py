"""The grammar and the meaning of $filter. Source: section 4.3."""

from contextlib import suppress
from operator import eq, ge, gt, le, lt, ne

import pytest
from hypothesis import given, strategies as st
from itwin_platform_sandbox._service.itwin_filter import DEEPEST_NESTING, FilterError, compile_filter
from itwin_platform_sandbox._service.json_values import JSONObject

from tests.support.examples import strings

ITWIN: JSONObject = {
    "id": "78202ffd-272b-4207-a677-96ddae05ddb0",
    "class": "Endeavor",
    "subClass": "Project",
    "type": None,
    "number": "PRO-000042",
    "displayName": "Bergen O'Hara Bridge",
    "status": "Active",
    "latitude": 60.39,
    "longitude": None,
    "createdDateTime": "2024-03-01T12:00:00.500Z",
}


# Comparison of text without regard to case, of numbers, null and times; functions, with value and property in either
# order; and before or, brackets.
TRUE = (
    *("status eq 'Active'", "status EQ 'aCTIVE'", "number gt 'pro-000041'", "number ge 'PRO-000042'"),
    *("number le 'pro-000042'", "'PRO-000041' lt number", "displayName eq 'bergen o''hara bridge'"),
    *("id eq 78202FFD-272b-4207-a677-96ddae05ddb0", "latitude gt 60", "latitude lt 6.1e1", "latitude eq 60.39"),
    *("-1 le latitude", "longitude ne 5", "longitude eq null", "null eq type", "createdDateTime ge 2024-03-01"),
    *("createdDateTime le 2024-03-01T13:00:00.5+01:00", "createdDateTime eq '2024-03-01T12:00:00.5Z'"),
    *("createdDateTime gt 0001-01-01T00:00:00+14:00", "contains('HARA', displayName)", "contains(displayName, 'hara')"),
    *("contains('', displayName)", "startswith('bergen', displayName)", "((status eq 'Active'))"),
    "status eq 'Trial' and status eq 'Active' or number eq 'PRO-000042'",
    "number eq 'and' or displayName eq 'or' or status eq 'active'",
)
FALSE = (
    *("status ne 'active'", "number lt 'PRO-000042'", "'PRO-000043' lt number", "longitude gt -180", "type ne null"),
    *("status eq null", "createdDateTime lt 2024-03-01T13:00:00+01:00", "contains ( 'x' , displayName )"),
    *("startswith('hara', displayName)", "contains('a', type)"),
    "status eq 'Trial' and (status eq 'Active' or number eq 'PRO-000042')",
)


@pytest.mark.parametrize(
    ("statement", "accepted"),
    [*((statement, True) for statement in TRUE), *((statement, False) for statement in FALSE)],
)
def test_a_statement_says_yes_or_no(statement: str, accepted: bool) -> None:
    """Operators, functions and brackets mean the same as in OData; both orders of arguments work."""
    assert compile_filter(statement).accepts(ITWIN) is accepted


INVALID = (
    *("", " ", ";", "status", "'Active'", "status eq", "status eq Active'", "status eq 'Active", "status = 'Active'"),
    *("status eq 'Active' and", "(status eq 'Active'", "status eq 'Active')", "status eq 'a' status eq 'b'"),
    *("status eq 'a' xor status eq 'b'", "not status eq 'Trial'", "not (status eq 'Trial')", "status in ('Active')"),
    *("status eq class", "'a' eq 'a'", "status gt null", "status eq 5", "latitude eq 'north'", "contains(5, status)"),
    *("createdDateTime gt 'yesterday'", "createdDateTime gt 2024-13-45", "createdDateTime gt 5", "contains('a')"),
    *("contains('a', 'b')", "contains(status, class)", "contains('6', latitude)", "endswith('a', status)"),
)
UNKNOWN = ("colour eq 'red'", "contains('a', colour)", "Status eq 'a'", "(colour eq null)")


@pytest.mark.parametrize(
    ("cause", "statement"),
    [*(("statement", statement) for statement in INVALID), *(("property", statement) for statement in UNKNOWN)],
)
def test_a_statement_that_cannot_be_carried_out_is_rejected(cause: str, statement: str) -> None:
    """What is invalid or unsupported is rejected as a statement, an unknown property as a property."""
    with pytest.raises(FilterError) as caught:
        compile_filter(statement)
    assert caught.value.cause == cause


def test_nesting_without_end_is_rejected() -> None:
    """A statement deeper than the limit is rejected, not returned by a failure; long and nested ones are accepted."""
    statement = " or ".join(["status eq 'Trial'"] * 500 + ["(" * 500 + "status eq 'Active'" + ")" * 500])
    assert compile_filter(statement).accepts(ITWIN)
    with pytest.raises(FilterError, match=f"{DEEPEST_NESTING} levels"):
        compile_filter("status eq 'a' and (status eq 'b' or (" * 500 + "status eq 'c'" + "))" * 500)


COMPARISONS = {"eq": eq, "ne": ne, "gt": gt, "ge": ge, "lt": lt, "le": le}
LEAVES = st.tuples(st.sampled_from(sorted(COMPARISONS)), st.floats(-99, 99)).map(
    lambda leaf: (f"latitude {leaf[0]} {leaf[1]}", COMPARISONS[leaf[0]](60.39, leaf[1]))
)


def combined(statements: st.SearchStrategy[tuple[str, bool]]) -> st.SearchStrategy[tuple[str, bool]]:
    """Statements made of statements, each with its truth for the iTwin."""
    two = st.tuples(statements, statements)
    both = two.map(lambda two: (f"({two[0][0]}) and ({two[1][0]})", two[0][1] and two[1][1]))
    return both | two.map(lambda two: (f"({two[0][0]}) or ({two[1][0]})", two[0][1] or two[1][1]))


@given(st.recursive(LEAVES, combined, max_leaves=12))
def test_combined_statements_mean_what_their_parts_mean(statement_and_truth: tuple[str, bool]) -> None:
    """Any combination of and, or and comparisons gives what Python gives."""
    statement, truth = statement_and_truth
    assert compile_filter(statement).accepts(ITWIN) is truth


@given(strings(max_size=8), strings(max_size=8))
def test_quoted_text_is_taken_as_it_is(name: str, part: str) -> None:
    """Whatever a quoted text contains, quotes doubled, it stands for itself."""
    itwin = {**ITWIN, "displayName": name + part}
    quoted = (name + part).replace("'", "''")
    assert compile_filter(f"displayName eq '{quoted}'").accepts(itwin)
    assert compile_filter(f"contains('{part.replace(chr(39), chr(39) * 2)}', displayName)").accepts(itwin)


@given(st.text(alphabet="statuseqcontains'(), 0123456789-T:Znd\t\x00é", max_size=40) | strings(max_size=40))
def test_any_text_is_compiled_or_rejected(statement: str) -> None:
    """No text makes the compiler fail in any other way."""
    with suppress(FilterError):
        compile_filter(statement).accepts(ITWIN)
