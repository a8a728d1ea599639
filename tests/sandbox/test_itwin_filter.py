"""The grammar and the meaning of $filter. Source: section 4.3."""

from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform_sandbox import Sandbox

from tests.support.examples import strings

ITWIN = {
    "id": "78202ffd-272b-4207-a677-96ddae05ddb0",
    "subClass": "Project",
    "number": "PRO-000042",
    "displayName": "Bergen O'Hara Bridge",
    "latitude": 60.39,
    "createdDateTime": "2024-03-01T12:00:00.500Z",
}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of a sandbox with this iTwin and an Account."""
    with Sandbox(seed={"itwins": [ITWIN]}) as sandbox, httpx.Client(base_url=sandbox.base_url) as opened:
        opened.headers["Authorization"] = f"Bearer {sandbox.token}"
        yield opened


def filtered(client: httpx.Client, statement: str) -> httpx.Response:
    """The response for a filter."""
    return client.get("/itwins/", params={"$filter": statement})


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
    " or ".join(["status eq 'Trial'"] * 500 + ["(" * 500 + "status eq 'Active'" + ")" * 500]),
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
def test_a_statement_says_yes_or_no(client: httpx.Client, statement: str, accepted: bool) -> None:
    """Operators, functions and brackets mean the same as in OData; both orders of arguments work."""
    found = [itwin["id"] for itwin in filtered(client, statement).json()["iTwins"]]
    assert (ITWIN["id"] in found) is accepted


INVALID = (
    *("", " ", ";", "status", "'Active'", "status eq", "status eq Active'", "status eq 'Active", "status = 'Active'"),
    *("status eq 'Active' and", "(status eq 'Active'", "status eq 'Active')", "status eq 'a' status eq 'b'"),
    *("status eq 'a' xor status eq 'b'", "not status eq 'Trial'", "not (status eq 'Trial')", "status in ('Active')"),
    *("status eq class", "'a' eq 'a'", "status gt null", "status eq 5", "latitude eq 'north'", "contains(5, status)"),
    *("createdDateTime gt 'yesterday'", "createdDateTime gt 2024-13-45", "createdDateTime gt 5", "contains('a')"),
    *("contains('a', 'b')", "contains(status, class)", "contains('6', latitude)", "endswith('a', status)"),
    "status eq 'a' and (status eq 'b' or (" * 500 + "status eq 'c'" + "))" * 500,
)
UNKNOWN = ("colour eq 'red'", "contains('a', colour)", "Status eq 'a'", "(colour eq null)")


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        *(("InvalidParameter", statement) for statement in INVALID),
        *(("InvalidValue", statement) for statement in UNKNOWN),
    ],
)
def test_a_statement_that_cannot_be_carried_out_is_rejected(client: httpx.Client, code: str, statement: str) -> None:
    """An invalid or unsupported statement is an InvalidParameter, an unknown property an InvalidValue."""
    response = filtered(client, statement)
    (detail,) = response.json()["error"]["details"]
    assert (response.status_code, detail["code"], detail["target"]) == (422, code, "$filter")


@settings(deadline=None)
@given(st.text(alphabet="statuseqcontains'(), 0123456789-T:Znd\t\x00é", max_size=40) | strings(max_size=40))
def test_any_text_is_carried_out_or_rejected(client: httpx.Client, statement: str) -> None:
    """Any text is a filter or a 422, and any text can be quoted."""
    assert filtered(client, statement).status_code in {200, 422}
    quoted = statement.replace("'", "''")
    assert filtered(client, f"displayName ne '{quoted}'").json()["iTwins"]
